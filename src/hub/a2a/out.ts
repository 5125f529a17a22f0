import { hash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Task, TaskState } from '@a2a-js/sdk'
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import { A2AError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import { MailboxError } from '../../base/errors.ts'
import { listIfAny, readJsonIfAny, writeFileAtomically } from '../../base/files.ts'
import { backoffMs, pause } from '../../base/timers.ts'
import { nameToFile } from '../../model/name.ts'
import { staysInside, staysInsideReason } from '../../model/sealed.ts'
import type { InboxMessage } from '../../query/inbox.ts'
import type { Mailbox } from '../../space/mailbox/api.ts'
import { hubDir } from '../hub-dir.ts'
import type { HubParts } from '../parts.ts'
import { answeredBy, lostTask, reasonOf, textIn, toMessage, withoutTask } from './out-words.ts'
import type { RemoteAgent } from './remote-agents.ts'
import { fetchFor, readCard } from './remote-card.ts'
import { isOver } from './task.ts'

export interface OutOptions {
  parts: Pick<HubParts, 'space' | 'log'>
  name: string
  agent: RemoteAgent
  signal: AbortSignal
  /** How often to look for mail and ask for news. @default 1000 */
  lookMs?: number
}

/** A message that was sent to the other side, or is about to be. */
interface Sending {
  id: string
  /** The task over there, once it is known. */
  taskId?: string
  /** The sender's message that its last answer was to. */
  about: string
}

const longestPauseMs = 60_000
const slowestLookMs = 15_000
const textChars = 100_000
/** How often the other side may refuse a message before it has failed. */
const refusalsAtMost = 5

/**
 * Brings mail to an agent of another system, and its answers back. What was handed over is noted in a file before it
 * is sent, and again with the id of the task: after a kill, a message without one is looked for among the tasks of its
 * context before it is sent again. Answers have keys, so none comes twice. Receipts say what the other side reported,
 * and no more: notified when it has the message, processing when it works on it.
 */
export class RemoteCourier {
  readonly #options: OutOptions
  readonly #mailbox: Mailbox
  readonly #dir: string
  readonly #looks = new Map<string, { at: number; tries: number; state: TaskState | undefined }>()
  readonly #refusals = new Map<string, number>()
  #client: Client | undefined
  #failures = 0
  #problem = ''

  constructor(options: OutOptions) {
    const { parts, name } = options
    this.#options = options
    this.#mailbox = parts.space.mailboxInside(name)
    this.#dir = join(hubDir(parts.space.dir), 'a2a-out', nameToFile(name))
  }

  /** Runs until it is stopped. What goes wrong is tried again, later and later. */
  async run(): Promise<void> {
    const { signal, lookMs = 1_000, parts, name } = this.#options
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    while (!signal.aborted) {
      try {
        await this.#round()
        await this.#say('')
        this.#failures = 0
      } catch (error) {
        // Its address may have changed.
        this.#client = undefined
        const reason = error instanceof Error ? error.message : String(error)
        parts.log.warn({ event: 'a2a', agent: name, reason }, 'not delivered; trying again')
        await this.#say(`A2A: ${reason}`.slice(0, 200)).catch(() => {})
        this.#failures++
      }
      const waitMs = this.#failures === 0 ? lookMs : backoffMs(this.#failures - 1, lookMs, longestPauseMs)
      await pause(waitMs, signal)
    }
  }

  /** Says in the roster what is in the way, once. */
  async #say(problem: string): Promise<void> {
    if (problem === this.#problem) return
    await this.#mailbox.update({ note: problem })
    this.#problem = problem
  }

  async #round(): Promise<void> {
    await this.#mailbox.touch()
    const known = this.#sendings()
    const { messages } = await this.#mailbox.unread()
    for (const message of messages)
      if (
        message.state === 'stored' &&
        !known.some(({ id, about }) => id === message.id || about === message.id) &&
        this.#isTime(message.id)
      )
        await this.#asFarAsTaken(message.id, message.id, () => this.#handOver(message, known))
    for (const sending of this.#sendings())
      if (this.#isTime(sending.id))
        await this.#asFarAsTaken(sending.id, sending.about, () => this.#follow(sending))
  }

  #isTime = (id: string): boolean => (this.#looks.get(id)?.at ?? 0) <= performance.now()

  /**
   * What the other side refuses is about this message and no other: the others go on, it is tried again a few times, and
   * then it has failed. What else goes wrong is about the other side as a whole.
   */
  async #asFarAsTaken(id: string, about: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
      this.#refusals.delete(id)
    } catch (error) {
      if (!(error instanceof A2AError)) throw error
      const { lookMs = 1_000, parts, name } = this.#options
      const tries = (this.#refusals.get(id) ?? 0) + 1
      this.#refusals.set(id, tries)
      parts.log.warn({ event: 'a2a', agent: name, id: about, reason: error.message }, 'refused')
      this.#looks.set(id, {
        ...{ at: performance.now() + backoffMs(tries, lookMs, longestPauseMs), tries: 0, state: undefined },
      })
      if (tries < refusalsAtMost) return
      const reason = `the other side refused it: ${error.message}`.slice(0, 500)
      await this.#quietly(() => this.#mailbox.fail(about, { reason }))
      this.#refusals.delete(id)
      this.#forget({ id, about })
    }
  }

  #sendings = (): Sending[] =>
    listIfAny(this.#dir).flatMap((file) => readJsonIfAny<Sending>(join(this.#dir, file)) ?? [])

  #note = (sending: Sending): void =>
    writeFileAtomically(join(this.#dir, `${sending.id}.json`), JSON.stringify(sending))

  #forget({ id }: Sending): void {
    rmSync(join(this.#dir, `${id}.json`), { force: true })
    this.#looks.delete(id)
  }

  /** Sends a message: as a new task, or as the answer to what a task has asked. */
  async #handOver(message: InboxMessage, known: readonly Sending[]): Promise<void> {
    if (staysInside(message))
      return this.#quietly(() => this.#mailbox.fail(message.id, { reason: staysInsideReason }))
    const asked = await this.#taskAsking(message, known)
    const sending: Sending = asked ? { ...asked, about: message.id } : { id: message.id, about: message.id }
    if (!asked) this.#note(sending)
    const before = asked && (await this.#get(asked.taskId!))
    const isThere = before?.history.some(({ messageId }) => messageId === message.id) ?? false
    await this.#handedOver(sending, isThere ? before! : await this.#send(message, asked?.taskId))
  }

  async #handedOver(sending: Sending, task: Task): Promise<void> {
    // An answer without a task is all that there will be.
    if (task.id.startsWith(withoutTask) && (await this.#tell(sending, task))) return this.#forget(sending)
    this.#note({ ...sending, taskId: task.id })
    await this.#mailbox.notified([sending.about])
  }

  /** The task whose question a message answers. */
  async #taskAsking({ replyTo }: InboxMessage, known: readonly Sending[]): Promise<Sending | undefined> {
    if (replyTo === undefined) return undefined
    const { message } = await this.#mailbox.show(replyTo)
    return message.from === this.#mailbox.name
      ? known.find(({ about, taskId }) => about === message.replyTo && taskId !== undefined)
      : undefined
  }

  async #send(message: InboxMessage, taskId = ''): Promise<Task> {
    const client = await this.#connect()
    const answer = await client.sendMessage({
      ...{ tenant: '', metadata: undefined, message: toMessage(message, taskId) },
      configuration: {
        ...{ acceptedOutputModes: ['text/plain', 'application/json'], returnImmediately: true },
        ...{ taskPushNotificationConfig: undefined, historyLength: undefined },
      },
    })
    // An agent that needs no task answers at once.
    return 'messageId' in answer ? answeredBy(answer, message) : answer
  }

  async #connect(): Promise<Client> {
    if (this.#client !== undefined) return this.#client
    const { agent, parts } = this.#options
    const allow = parts.space.settings['a2a.allow']
    const card = await readCard(agent, allow)
    const options = { fetchImpl: fetchFor(agent, allow), legacyCompat: { enabled: true } }
    const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)]
    this.#client = await new ClientFactory({ transports }).createFromAgentCard(card)
    return this.#client
  }

  /** What has become of a message over there, told here. */
  async #follow(sending: Sending): Promise<void> {
    const { message } = await this.#mailbox.show(sending.about)
    const task = sending.taskId === undefined ? await this.#found(sending) : await this.#get(sending.taskId)
    if (task === undefined) {
      // It never arrived: once more.
      return this.#handedOver(sending, await this.#send(message as InboxMessage))
    }
    if (sending.taskId === undefined) this.#note({ ...sending, taskId: task.id })
    if (await this.#tell(sending, task)) return this.#forget(sending)
    this.#lookLater(sending, task)
  }

  /** A task that takes its time is asked for less and less often. */
  #lookLater({ id }: Sending, { status }: Task): void {
    const { lookMs = 1_000 } = this.#options
    const before = this.#looks.get(id)
    const tries = before?.state === status?.state ? (before?.tries ?? 0) + 1 : 0
    const at = performance.now() + backoffMs(tries, lookMs, slowestLookMs)
    this.#looks.set(id, { at, tries, state: status?.state })
  }

  async #get(id: string): Promise<Task> {
    try {
      return await (await this.#connect()).getTask({ tenant: '', id })
    } catch (error) {
      if (!(error instanceof TaskNotFoundError)) throw error
      return lostTask(id)
    }
  }

  /** The task of a message of which it is not known whether it was sent: by its id, in its context. */
  async #found({ id }: Sending): Promise<Task | undefined> {
    const { message } = await this.#mailbox.show(id)
    const client = await this.#connect()
    const params = { tenant: '', contextId: message.threadId, status: 0, pageToken: '' }
    const { tasks } = await client
      .listTasks({ ...params, statusTimestampAfter: undefined, historyLength: 100 } as never)
      // One of version 0.3 cannot say: then it may get the message twice, with the same id.
      .catch(() => ({ tasks: [] as Task[] }))
    return tasks.find(({ history }) => history.some(({ messageId }) => messageId === id))
  }

  /** Tells what the other side has reported. True when nothing more is to be expected. */
  async #tell({ about }: Sending, task: Task): Promise<boolean> {
    const state = task.status?.state
    const text = textIn(task.status?.message?.parts ?? [])
    const results = task.artifacts.map(({ parts }) => textIn(parts)).filter((one) => one !== '')
    switch (state) {
      case TaskState.TASK_STATE_INPUT_REQUIRED:
      case TaskState.TASK_STATE_AUTH_REQUIRED: {
        const said = task.status?.message?.messageId ?? task.status?.timestamp ?? ''
        await this.#answer(about, text || 'More is needed.', `${task.id}:${said}`, true)
        return false
      }
      case TaskState.TASK_STATE_COMPLETED:
        await this.#answer(
          about,
          [...results, ...(text ? [text] : [])].join('\n\n') || 'Done.',
          task.id,
          false,
        )
        return true
      case TaskState.TASK_STATE_WORKING:
        await this.#quietly(() => this.#mailbox.start(about))
        return false
      default:
        if (!isOver(state)) return false
        await this.#quietly(() => this.#mailbox.fail(about, { reason: text || reasonOf(state) }))
        return true
    }
  }

  async #answer(id: string, body: string, key: string, awaitingResponse: boolean): Promise<void> {
    // Of this message: the other side may give two tasks one id, of any length.
    const digest = hash('sha256', key, 'hex')
    const answer = { body: body.slice(0, textChars), key: `a2a-out:${id}:${digest}`, awaitingResponse }
    await this.#mailbox.reply(id, answer)
  }

  /** A step that may have been taken before, or that is no longer possible because the sender took the mail back. */
  async #quietly(step: () => Promise<unknown>): Promise<void> {
    try {
      await step()
    } catch (error) {
      if (!(error instanceof MailboxError) || !['conflict', 'not_permitted'].includes(error.code)) throw error
    }
  }
}
