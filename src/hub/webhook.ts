import { join } from 'node:path'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { backoffMs, pause } from '../base/timers.ts'
import { person } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import type { Encrypted } from '../model/sealed.ts'
import type { LocalSpace } from '../space/api.ts'
import { hubDir, makeHubDir } from './hub-dir.ts'
import { webhookShapes } from './webhook-shapes.ts'
import { signatureOf, webhookSecret } from './webhook-signature.ts'

export interface WebhookOptions {
  url: string
  /** Called with what could not be delivered, and why. */
  onProblem: (problem: { id: string; reason: string; again: boolean }) => void
  /** The first pause after a failure. Each further one is twice as long. @default 1000 */
  pauseMs?: number
  /** Where the person can open a message. */
  linkTo?: (message: Message) => string
}

const longestPauseMs = 5 * 60_000
const timeoutMs = 10_000

/**
 * Posts every message to the person to the webhook, in the shape of the setting, in order. The position is saved after each,
 * so a hub that was killed continues where it was: a receiver gets each message at least once and can tell
 * repeats by the id. Mail from before the first start is not posted. Resolves when it is stopped.
 */
export async function runWebhook(
  space: LocalSpace,
  options: WebhookOptions,
  signal: AbortSignal,
): Promise<void> {
  const file = join(hubDir(space.dir), 'webhook.json')
  /** Records the sequence number of the last message that was posted. */
  const save = (seq: number) => writeFileAtomically(file, JSON.stringify({ seq }))
  const posted = readJsonIfAny<{ seq: unknown }>(file)?.seq
  const seq = Number.isSafeInteger(posted) ? (posted as number) : await space.lastSeq()
  makeHubDir(space.dir)
  save(seq)
  for await (const { entry } of space.follow({ after: seq, signal })) {
    // Imported mail is old.
    if (entry.kind !== 'message' || entry.originalAt !== undefined) continue
    const { message } = entry
    const isOver = !message.to.includes(person) || (await deliver(space, message, options, signal))
    if (!isOver) return
    save(entry.seq)
  }
}

/** Tries until it is accepted, or refused for good. False when it was stopped before. */
async function deliver(
  { dir, id: spaceId, settings }: LocalSpace,
  message: Message & Encrypted,
  options: WebhookOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { url, onProblem, pauseMs = 1_000, linkTo } = options
  const posted = { spaceId, message, link: linkTo?.(message) ?? '' }
  const shaped = webhookShapes[settings['webhook.shape']](posted, url)
  for (let retry = 0; !signal.aborted; retry++) {
    // A request in progress is not cancelled: it would have to be posted again.
    const { reason, again } = await post({ url, ...shaped }, message.id, webhookSecret(dir))
    if (reason === undefined) return true
    onProblem({ id: message.id, reason, again })
    if (!again) return true
    await pause(backoffMs(retry, pauseMs, longestPauseMs), signal)
  }
  return false
}

async function post(
  { url, type, body: content }: { url: string; type: string; body: object },
  id: string,
  secret: string,
): Promise<{ reason?: string; again: boolean }> {
  const body = JSON.stringify(content)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': type,
        ...signatureOf(secret, id, body),
      },
      body,
      // Only the address that the person configured gets mail.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    if (response.ok) return { again: false }
    const isBusy = response.status >= 500 || response.status === 408 || response.status === 429
    return { reason: `it answered ${response.status}`, again: isBusy }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error), again: true }
  }
}
