import { StreamResponse, type Task } from '@a2a-js/sdk'
import { ownMailbox } from '../../api/own-mailbox.ts'
import { MailboxError } from '../../base/errors.ts'
import { backoffMs, pause } from '../../base/timers.ts'
import type { Entry } from '../../model/entry.ts'
import type { HubParts } from '../parts.ts'
import { signatureOf, webhookSecret } from '../webhook-signature.ts'
import type { PushConfig, PushConfigs } from './push-configs.ts'
import { isOver, type MailTask, readTask } from './task.ts'
import { concernsTask, updatesBetween } from './task-changes.ts'

const longestPauseMs = 5 * 60_000

interface PushOptions {
  parts: Pick<HubParts, 'space' | 'feed' | 'log'>
  configs: PushConfigs
  fetch: typeof fetch
  signal: AbortSignal
  /** The first pause after a failure. Each further one is twice as long. @default 1000 */
  pauseMs?: number
}

/**
 * Posts what becomes of tasks to those who asked for it, each change at least once: a hub that was killed continues
 * after the last one that it has recorded as posted.
 */
export function runPush(options: PushOptions): void {
  const { configs, parts } = options
  const start = (config: PushConfig) =>
    void follow(options, config).catch((err: unknown) =>
      parts.log.error({ event: 'a2a', err, task: config.taskId }, 'push notifications have stopped'),
    )
  for (const config of configs.all()) start(config)
  configs.onAdded(start)
}

async function follow(options: PushOptions, config: PushConfig): Promise<void> {
  const { parts, configs, signal } = options
  const { space, feed } = parts
  let now = await readAs(space, config)
  if (now === undefined) return
  const wants = (entry: Entry) => concernsTask(entry, now!)
  let before: Task | undefined
  for await (const { seq } of entriesFrom(feed.follow(config.seq, wants, signal))) {
    // Another process, or the caller, may have removed it.
    if (!configs.of(config.caller, config.taskId).some(({ id }) => id === config.id)) return
    now = await readAs(space, config)
    if (now === undefined) return
    const { task } = now
    const isNews = before === undefined || updatesBetween(before, task).length > 0
    if (isNews && !(await deliver(options, config, task))) return
    before = task
    configs.posted(config, seq)
    if (isOver(task.status?.state)) return configs.remove(config.caller, config.taskId, config.id)
  }
}

async function* entriesFrom(followed: AsyncIterable<{ entry: Entry }>): AsyncGenerator<Entry> {
  for await (const { entry } of followed) yield entry
}

/** The task as its caller sees it. */
async function readAs(
  space: HubParts['space'],
  { caller, taskId }: PushConfig,
): Promise<MailTask | undefined> {
  try {
    const mailbox = await space.mailboxOfRun(caller, { join: false })
    return await readTask(
      ownMailbox(space.core, mailbox, () => true),
      taskId,
    )
  } catch (error) {
    if (error instanceof MailboxError && error.code === 'not_found') return undefined
    throw error
  }
}

/** Tries until it is accepted, or refused for good. False when it was stopped before. */
async function deliver(options: PushOptions, config: PushConfig, task: Task): Promise<boolean> {
  const { parts, signal, pauseMs = 1_000 } = options
  const body = JSON.stringify(StreamResponse.toJSON({ payload: { $case: 'task', value: task } }))
  for (let retry = 0; !signal.aborted; retry++) {
    const { reason, again } = await post(options, config, body, task)
    if (reason === undefined) return true
    parts.log.warn({ event: 'a2a', task: task.id, reason, again }, 'not delivered')
    if (!again) return true
    await pause(backoffMs(retry, pauseMs, longestPauseMs), signal)
  }
  return false
}

async function post(options: PushOptions, config: PushConfig, body: string, task: Task) {
  const { authentication, token, url } = config
  const id = `${task.id}.${task.status?.timestamp}`
  try {
    const response = await options.fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === '' ? {} : { 'x-a2a-notification-token': token }),
        ...(authentication?.credentials
          ? { authorization: `${authentication.scheme} ${authentication.credentials}` }
          : {}),
        ...signatureOf(webhookSecret(options.parts.space.dir), id, body),
      },
      body,
    })
    await response.body?.cancel()
    if (response.ok) return { again: false }
    const isBusy = response.status >= 500 || response.status === 408 || response.status === 429
    return { reason: `it answered ${response.status}`, again: isBusy }
  } catch (error) {
    const isRefused = error instanceof MailboxError
    return { reason: error instanceof Error ? error.message : String(error), again: !isRefused }
  }
}
