/** 7. The index is derived: how long it takes to make it anew, and what it costs to hold. */
import { Child } from '../lib/child.mjs'
import { duration, megabytes, number, rate, table } from '../lib/format.mjs'

export const name = 'rebuild'
export const title = 'Rebuild and memory'

export const steps = () => 3

export async function run(ctx) {
  const n = ctx.sizes.rebuild
  ctx.progress.step('the history')
  const dir = await ctx.histories.get('mailbox', n, 'unread')
  ctx.progress.step(`rebuilding ${number(n)}`)
  const rebuilt = await inChild('rebuild', { dir }, (seq) => ctx.progress.within(seq / n))
  ctx.progress.step(`holding ${number(n)}`)
  const held = await inChild('hold', { dir, calls: ctx.times.heldCalls })
  const idle = await inChild('memory', {}, undefined, 'asker.mjs')
  return { n, calls: ctx.times.heldCalls, rebuilt, held, node: idle.rss }
}

async function inChild(verb, input, onNote, script = 'rebuilder.mjs') {
  const child = new Child(script, verb)
  try {
    return await child.ask(verb, input, onNote)
  } finally {
    await child.stop()
  }
}

const perSecond = (entries, ms) => entries / (ms / 1_000)

export function report({ n, calls, rebuilt, held, node }) {
  const { entries, tablesMs, totalMs, peak } = rebuilt
  const rows = [
    [
      'tables alone: all that inboxes, counts and threads need',
      duration(tablesMs),
      rate(perSecond(entries, tablesMs)),
    ],
    ['tables and words side by side, on two threads', duration(totalMs), rate(perSecond(entries, totalMs))],
  ]
  const memory = [
    ['a process that rebuilds, at its peak', megabytes(peak)],
    ['a process that has opened the space', megabytes(held.rssOpen)],
    [`the same after ${number(4 * calls)} reads (inbox, count, search, thread)`, megabytes(held.rss)],
    ['its peak', megabytes(held.peak)],
    ['for comparison: an idle process of this benchmark', megabytes(node)],
  ]
  return `A journal of ${number(entries)} entries, in a process of its own: a space opened without its index, then \`space.rebuild()\`.

${table(['', 'time', 'entries'], rows, 'lrr')}

Resident memory with ${number(n)} messages in the space (opening it took ${duration(held.openMs)}). There is no hub yet; this is a process that holds the same space as the hub will.

${table(['', 'memory'], memory, 'lr')}`
}

export function aims({ n, rebuilt, held }) {
  const { entries, tablesMs, totalMs } = rebuilt
  const note = n === 1_000_000 ? '' : `with ${number(n)} instead of 1,000,000`
  const joined = (...parts) => parts.filter((part) => part !== '').join('; ')
  return [
    {
      aim: 'rebuild, entries a second',
      atLeast: 100_000,
      measured: perSecond(entries, totalMs),
      unit: '/s',
      note: joined(`tables alone ${rate(perSecond(entries, tablesMs))}`, note),
    },
    {
      aim: 'memory of a hub with 1,000,000 messages',
      atMost: 200,
      measured: held.rss / 1_048_576,
      unit: 'MB',
      note: joined('a process holding the space; there is no hub yet', note),
    },
  ]
}
