import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { asMailboxError, MailboxError } from '../base/errors.ts'
import { listIfAny, moveFile, readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { WriterLock } from '../journal/file/lock.ts'
import type { SendInput } from '../model/fields.ts'
import { isoTime } from '../model/time.ts'
import type { SentMessage } from './mailbox/api.ts'
import type { DiskSpace } from './space.ts'

/** Mail that waits on this machine until its database can be reached. */
export interface Queued {
  queued: true
  /** It is sent with this key, so it is stored once however often that is tried. */
  key: string
  from: string
  at: string
  input: SendInput
}

const outboxOf = (dir: string): string => join(dir, 'outbox')

/** Sends, or keeps the mail in the outbox of this machine if the database does not answer. */
export async function sendOrQueue(
  space: DiskSpace,
  from: string,
  input: SendInput,
  send: (input: SendInput) => Promise<SentMessage>,
): Promise<SentMessage | Queued> {
  const keyed = { ...input, key: input.key ?? `queued-${randomUUID()}` }
  try {
    return await send(keyed)
  } catch (error) {
    if (!(error instanceof MailboxError) || error.code !== 'unreachable') throw error
    return queue(space, from, keyed)
  }
}

function queue({ dir, now }: DiskSpace, from: string, input: SendInput & { key: string }): Queued {
  const at = now()
  const queued: Queued = { queued: true, key: input.key, from, at: isoTime(at), input }
  mkdirSync(outboxOf(dir), { recursive: true, mode: 0o700 })
  const name = `${String(at).padStart(15, '0')}-${randomUUID()}.json`
  writeFileAtomically(join(outboxOf(dir), name), `${JSON.stringify(queued)}\n`)
  return queued
}

export const queuedMail = (dir: string): Queued[] =>
  waiting(dir).flatMap((name) => readJsonIfAny<Queued>(join(outboxOf(dir), name)) ?? [])

const waiting = (dir: string): string[] =>
  listIfAny(outboxOf(dir))
    .filter((name) => name.endsWith('.json'))
    .sort()

/** Sends what waits, in order. What is refused is kept aside, and its sender is told. Returns how many were sent. */
export async function sendQueued(space: DiskSpace): Promise<number> {
  const { dir } = space
  if (waiting(dir).length === 0 || space.core.journal.cutOff !== undefined) return 0
  const lock = new WriterLock(join(outboxOf(dir), 'lock'))
  try {
    return (await lock.tryWith(() => sendAll(space)))?.value ?? 0
  } finally {
    lock.close()
  }
}

async function sendAll(space: DiskSpace): Promise<number> {
  let sent = 0
  for (const name of waiting(space.dir)) {
    const path = join(outboxOf(space.dir), name)
    const queued = readJsonIfAny<Queued>(path)
    if (queued === undefined) continue
    const mailbox = space.mailboxInside(queued.from)
    try {
      await mailbox.send(queued.input)
      sent++
      rmSync(path)
    } catch (thrown) {
      const error = asMailboxError(thrown)
      if (['unreachable', 'closed', 'timeout'].includes(error.code)) return sent
      mkdirSync(join(outboxOf(space.dir), 'refused'), { recursive: true, mode: 0o700 })
      moveFile(path, join(outboxOf(space.dir), 'refused', name))
      const { subject = '' } = queued.input
      await mailbox
        .send({ to: queued.from, subject: `Not sent: ${subject}`.trim(), body: refusal(queued, error) })
        .catch(() => {})
    }
  }
  return sent
}

const refusal = ({ at }: Queued, { message, hint = '' }: MailboxError): string =>
  `What you queued at ${at}, while the database could not be reached, was refused: ${message}. ${hint}`.trim()
