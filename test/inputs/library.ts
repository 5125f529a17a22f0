import fc from 'fast-check'
import type { Mailbox } from '../../src/space/mailbox/api.ts'
import { openDisk } from '../../src/space/open.ts'
import { corpora } from '../helpers/corpora.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { type Call, inputsFrom, resolveIds, sample } from './generate.ts'
import { Accepted, Judge } from './judge.ts'

/** Values of JavaScript that the types forbid. */
const wild = fc.anything({
  ...{ withBigInt: true, withDate: true, withMap: true, withSet: true, withObjectString: true },
  ...{ withNullPrototype: true, withSparseArray: true, withTypedArray: true, maxDepth: 2 },
})

const inputsPerSpace = 4_000
const atOnce = 256

/** What gives back the message that was sent. */
const sends = ['send', 'reply', 'broadcast']

/** Calls of the library, many at once. */
export async function library(count: number, seed: number, progress: (judge: Judge) => void): Promise<Judge> {
  const judge = new Judge('library')
  const { call } = inputsFrom(await corpora(), wild)
  for (let done = 0; done < count; done += inputsPerSpace) {
    await using space = await openDisk({ dir: tempDir(), settings: testSettings })
    const mailboxes: Mailbox[] = []
    for (const name of ['ada', 'bob', 'cleo'])
      mailboxes.push(await space.mailbox(name, { join: { roles: ['worker'], tags: ['project:x'] } }))
    const accepted = new Accepted(judge)
    const left = Math.min(inputsPerSpace, count - done)
    for (let at = 0; at < left; at += atOnce) {
      const calls = sample(call, Math.min(atOnce, left - at), seed + done + at)
      // What is sent at once is written at once; the rest finds it there.
      for (const isSend of [true, false])
        await Promise.all(
          calls
            .filter(({ operation }) => sends.includes(operation) === isSend)
            .map((one, n) => make(mailboxes[n % mailboxes.length]!, one, accepted, judge)),
        )
      progress(judge)
    }
    await accepted.compare(space)
  }
  return judge
}

async function make(mailbox: Mailbox, call: Call, accepted: Accepted, judge: Judge): Promise<void> {
  const { operation, first, options } = call
  const given = withIds(options, accepted.ids)
  const second = operation === 'resend' ? ((given as { to?: unknown } | null)?.to ?? given) : given
  const words = first === undefined ? [given] : [resolveIds(first.value, accepted.ids), second]
  // One that waits for longer than we do.
  if (operation === 'wait' && given !== null && typeof given === 'object')
    Object.assign(given, { signal: AbortSignal.timeout(3) })
  try {
    const method = mailbox[operation as keyof Mailbox] as (...args: unknown[]) => Promise<unknown>
    const answer = await method.apply(mailbox, words)
    judge.accept()
    if (sends.includes(operation)) accepted.note((given ?? {}) as never, answer as never)
  } catch (error) {
    judge.threw(error, { operation, words })
  }
}

const withIds = (options: unknown, ids: readonly string[]): unknown =>
  options !== null && typeof options === 'object' && Object.getPrototypeOf(options) === Object.prototype
    ? Object.fromEntries(Object.entries(options).map(([name, value]) => [name, resolveIds(value, ids)]))
    : options
