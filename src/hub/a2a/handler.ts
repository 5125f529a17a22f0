import type {
  AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  Part,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import {
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import { ownMailbox } from '../../api/own-mailbox.ts'
import { MailboxError } from '../../base/errors.ts'
import { a2aKey } from '../../model/a2a.ts'
import type { Entry } from '../../model/entry.ts'
import type { SendInput } from '../../model/fields.ts'
import type { StoredMessage } from '../../query/message.ts'
import type { ServedMailbox } from '../../space/mailbox/api.ts'
import { type Caller, readsAll } from '../callers.ts'
import type { HubParts } from '../parts.ts'
import type { PushConfigs } from './push-configs.ts'
import { beganTask, isOver, isStill, type MailTask, readTask } from './task.ts'
import { concernsTask, updatesBetween } from './task-changes.ts'

/** How long a call that waits for the end is held. Then it says how far the task is, as for one that does not wait. */
const holdMs = 50_000
const subjectLength = 80
/** What the session of a caller is called in the roster. */
const remoteClient = 'remote:a2a'
const listPage = 200

interface HandlerOptions {
  parts: Pick<HubParts, 'space' | 'feed'>
  /** Who is written to. */
  address: string
  caller: Caller
  card: () => Promise<AgentCard>
  push: PushConfigs
  /** Aborted when the caller has gone, its token has ended or the hub stops. */
  signal: AbortSignal
}

/**
 * What a caller can do with an exposed address. A task is the message that began it, a context its thread, and both
 * are read from the index: there is no other record, so a hub that was killed goes on where it was.
 */
export class MailHandler implements A2ARequestHandler {
  readonly #options: HandlerOptions

  constructor(options: HandlerOptions) {
    this.#options = options
  }

  getAgentCard = (): Promise<AgentCard> => this.#options.card()

  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    throw new ExtendedAgentCardNotConfiguredError()
  }

  async sendMessage(params: SendMessageRequest): Promise<Task> {
    const { task } = await this.#send(params)
    const length = params.configuration?.historyLength
    if (params.configuration?.returnImmediately || isStill(task.status?.state)) return cut(task, length)
    const { signal } = this.#options
    const held = AbortSignal.any([signal, AbortSignal.timeout(holdMs)])
    let now = task
    for await (const { task: next } of this.#changes(task.id, held)) now = next
    return cut(now, length)
  }

  async *sendMessageStream(params: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const { task } = await this.#send(params)
    yield* this.#stream(task.id)
  }

  async *resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const { task } = await this.#find(id)
    if (isOver(task.status?.state)) throw new UnsupportedOperationError(`task ${id} is over`)
    yield* this.#stream(id)
  }

  getTask = async ({ id, historyLength }: GetTaskRequest): Promise<Task> =>
    cut((await this.#find(id)).task, historyLength)

  async listTasks(params: ListTasksRequest): Promise<ListTasksResponse> {
    const { contextId, status, pageSize = 50, pageToken, historyLength = 0, includeArtifacts } = params
    if (!(await this.#isKnown())) return { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 }
    const mailbox = await this.#mailbox()
    const after = params.statusTimestampAfter
    const found: Task[] = []
    for (const message of await this.#roots(mailbox)) {
      if (contextId !== '' && message.threadId !== contextId) continue
      const task = (await readTask(mailbox, message.id))?.task
      if (task === undefined || (status > 0 && task.status?.state !== status)) continue
      if (after !== undefined && (task.status?.timestamp ?? '') <= after) continue
      found.push(task)
    }
    const start = pageToken === '' ? 0 : found.findIndex(({ id }) => id === pageToken) + 1
    const page = found.slice(start, start + Math.min(Math.max(pageSize, 1), 100))
    const isLast = start + page.length >= found.length
    return {
      tasks: page.map((task) => ({
        ...cut(task, historyLength),
        artifacts: includeArtifacts ? task.artifacts : [],
      })),
      ...{ nextPageToken: isLast ? '' : page.at(-1)!.id, pageSize: page.length, totalSize: found.length },
    }
  }

  async cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    const { latest } = await this.#find(id)
    const mailbox = await this.#mailbox()
    try {
      await mailbox.withdraw(latest.id)
    } catch (error) {
      if (!(error instanceof MailboxError) || error.code !== 'conflict') throw error
      throw new TaskNotCancelableError(`${error.message}; only a task that nobody has read can be cancelled`)
    }
    return (await this.#find(id)).task
  }

  async createTaskPushNotificationConfig(
    config: TaskPushNotificationConfig,
  ): Promise<TaskPushNotificationConfig> {
    await this.#find(config.taskId)
    return this.#options.push.add(this.#options.caller.agent, config)
  }

  async getTaskPushNotificationConfig({
    taskId,
    id,
  }: {
    taskId: string
    id: string
  }): Promise<TaskPushNotificationConfig> {
    await this.#find(taskId)
    const found = this.#options.push.of(this.#options.caller.agent, taskId).find((one) => one.id === id)
    if (found === undefined) throw new TaskNotFoundError(`there is no push notification ${id}`)
    return found
  }

  async listTaskPushNotificationConfigs({
    taskId,
  }: {
    taskId: string
  }): Promise<{ configs: TaskPushNotificationConfig[]; nextPageToken: string }> {
    await this.#find(taskId)
    return { configs: this.#options.push.of(this.#options.caller.agent, taskId), nextPageToken: '' }
  }

  async deleteTaskPushNotificationConfig({ taskId, id }: { taskId: string; id: string }): Promise<void> {
    await this.#find(taskId)
    this.#options.push.remove(this.#options.caller.agent, taskId, id)
  }

  /**
   * The caller's own mailbox: it sees no more through this door than through any other. A caller that nobody knows yet
   * joins with its first message.
   */
  async #mailbox({ joins = false } = {}): Promise<ServedMailbox> {
    const { parts, caller } = this.#options
    const { space } = parts
    const join = joins && !(await this.#isKnown()) && { session: { client: remoteClient } }
    const mailbox = await space.mailboxOfRun(caller.agent, { join })
    return ownMailbox(space.core, mailbox, () => !readsAll(caller))
  }

  async #isKnown(): Promise<boolean> {
    const { parts, caller } = this.#options
    return (await parts.space.agents()).some(({ name }) => name === caller.agent)
  }

  async #find(id: string): Promise<MailTask> {
    const reading = this.#mailbox().then((mailbox) => readTask(mailbox, id))
    const found = await reading.catch((error: unknown) => {
      if (!(error instanceof MailboxError) || !['not_found', 'invalid'].includes(error.code)) throw error
    })
    // A prefix of an id is for people.
    if (found === undefined || found.task.id !== id) throw new TaskNotFoundError(`there is no task ${id}`)
    return found
  }

  /** The messages that began tasks for this address, the newest first. */
  async #roots(mailbox: ServedMailbox): Promise<StoredMessage[]> {
    const roots: StoredMessage[] = []
    for (let after: string | undefined; ; ) {
      const page = await mailbox.sent({ limit: listPage, ...(after === undefined ? {} : { after }) })
      roots.push(...page.messages.filter((one) => beganTask(one) && this.#isMine(one)))
      if (page.next === null) return roots
      after = page.next
    }
  }

  #isMine({ context }: StoredMessage): boolean {
    return (context?.['a2a'] as { to?: unknown } | undefined)?.to === this.#options.address
  }

  async #send({ message, configuration }: SendMessageRequest): Promise<MailTask> {
    if (message === undefined || message.messageId === '')
      throw new RequestMalformedError('message.messageId is required')
    const { address, caller, push } = this.#options
    const said = contentOf(message, address)
    const mailbox = await this.#mailbox({ joins: true })
    const { id } = await (message.taskId === ''
      ? mailbox.send({ ...said, to: address, ...(message.contextId && { threadId: message.contextId }) })
      : this.#goOn(mailbox, message.taskId, said))
    const task = await this.#find(message.taskId || id)
    const config = configuration?.taskPushNotificationConfig
    if (config !== undefined) await push.add(caller.agent, { ...config, taskId: task.task.id })
    return task
  }

  /** What is said about a task that is under way: the answer to its question, or something more. */
  async #goOn(mailbox: ServedMailbox, taskId: string, said: SendInput) {
    const { task, latest, question } = await this.#find(taskId)
    if (question !== undefined) return mailbox.reply(question.id, said)
    if (isOver(task.status?.state)) throw new UnsupportedOperationError(`task ${taskId} is over`)
    return mailbox.send({ ...said, to: latest.to, replyTo: latest.id })
  }

  /** A task as it is, and then as it changes, until it is over, waits for the caller, or the signal ends it. */
  async *#changes(id: string, signal: AbortSignal): AsyncGenerator<MailTask> {
    const { space, feed } = this.#options.parts
    const after = await space.lastSeq()
    let now = await this.#find(id)
    yield now
    const wants = (entry: Entry) => concernsTask(entry, now)
    if (isStill(now.task.status?.state)) return
    for await (const _ of feed.follow(after, wants, signal)) {
      now = await this.#find(id)
      yield now
      if (isStill(now.task.status?.state)) return
    }
  }

  async *#stream(id: string): AsyncGenerator<StreamResponse, void, undefined> {
    let before: Task | undefined
    for await (const { task } of this.#changes(id, this.#options.signal)) {
      yield* before === undefined
        ? [{ payload: { $case: 'task' as const, value: task } }]
        : updatesBetween(before, task)
      before = task
    }
  }
}

/** The last messages of a task's history; all of them unless the caller says how many. */
const cut = (task: Task, length: number | undefined): Task => ({
  ...task,
  history: length === undefined ? task.history : length === 0 ? [] : task.history.slice(-length),
})

/** An A2A message as mail that waits for an answer. Repeating it sends nothing twice. */
function contentOf({ parts, messageId, metadata }: Message, address: string): SendInput {
  const texts = parts.flatMap(textOf)
  const data = parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value as unknown] : []))
  if (texts.length === 0 && data.length === 0) throw new RequestMalformedError('the message has no parts')
  const body = texts.join('\n\n')
  const asked: unknown = metadata?.['subject']
  const subject = typeof asked === 'string' ? asked : (body.trimStart().split('\n', 1)[0] ?? '')
  return {
    ...{ type: 'request', awaitingResponse: true, key: `${a2aKey}${messageId}` },
    ...{ subject: subject.slice(0, subjectLength), body, context: { a2a: { to: address } } },
    ...(data.length > 0 && {
      payload: (data.length === 1 ? data[0] : data) as NonNullable<SendInput['payload']>,
    }),
  }
}

/** Files come as links, which are not followed: whoever reads the message decides. */
function textOf({ content, filename }: Part): string[] {
  if (content?.$case === 'text') return [content.value]
  if (content?.$case === 'url') return [filename === '' ? content.value : `${filename}: ${content.value}`]
  if (content?.$case === 'raw')
    throw new ContentTypeNotSupportedError('mail carries no files; send text, data or the URL of a file')
  return []
}
