import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import {
  type ErrorCode,
  type InboxMessage,
  type LocalSpace,
  type Mailbox,
  MailboxError,
  openSpace,
  type Page,
} from '../../src/mod.ts'

const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute

/** A clock that stands until a test moves it. */
export interface Clock {
  now: () => number
  advance: (ms: number) => void
}

export function clockAt(iso = '2026-11-15T10:00:00.000Z'): Clock {
  let ms = Date.parse(iso)
  return {
    now: () => ms,
    advance: (by) => {
      ms += by
    },
  }
}

/** Another door to the same space, as another process would have it. */
export async function reopen(space: LocalSpace): Promise<LocalSpace> {
  const other = await openSpace({ dir: space.dir, settings: { durability: 'os' }, now: space.now })
  onTestFinished(() => other.close())
  return other
}

/** Three who talk to one another in most stories: ada, bob and cy. */
export async function trio(space: LocalSpace): Promise<{ ada: Mailbox; bob: Mailbox; cy: Mailbox }> {
  return { ada: await space.mailbox('ada'), bob: await space.mailbox('bob'), cy: await space.mailbox('cy') }
}

export const subjects = ({ messages }: Pick<Page<{ subject: string }>, 'messages'>): string[] =>
  messages.map(({ subject }) => subject)

export const subjectsAndStates = ({ messages }: Pick<Page<InboxMessage>, 'messages'>): string[] =>
  messages.map(({ subject, state }) => `${subject} ${state}`)

/** Every byte of the journal. */
function journalOf(space: LocalSpace): string {
  const dir = join(space.dir, 'journal')
  return readdirSync(dir)
    .sort()
    .map((file) => readFileSync(join(dir, file), 'latin1'))
    .join('')
}

/** Expects a refusal with this code, or one of these, a hint, and not a byte written. */
export async function expectRefused(
  space: LocalSpace,
  code: ErrorCode | ErrorCode[],
  work: () => Promise<unknown>,
): Promise<MailboxError> {
  const before = journalOf(space)
  const error = await work().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error, 'it was accepted').toBeDefined()
  expect(error).toBeInstanceOf(MailboxError)
  expect(error).toMatchObject({ hint: expect.stringMatching(/\S/) })
  expect([code].flat()).toContain((error as MailboxError).code)
  expect(journalOf(space)).toBe(before)
  return error as MailboxError
}

/** Lets everything that is ready run, so that what a test has started is really waiting. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}

/** A promise that must not hang: what a test waits for although a defect would keep it for ever. */
export async function within<T>(promise: Promise<T>, ms = 5_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still waiting after ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Where a message stands with one of its recipients. */
export const stateFor = async (
  space: Pick<LocalSpace, 'show'>,
  id: string,
  name: string,
): Promise<string | undefined> =>
  (await space.show(id)).receipts.find(({ recipient, claimedBy }) => (claimedBy ?? recipient) === name)?.state
