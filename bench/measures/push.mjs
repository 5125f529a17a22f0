/** 5. From a send in one process to the message in another. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Child } from '../lib/child.mjs'
import { sharedNow, sleep } from '../lib/clock.mjs'
import { duration, number, table } from '../lib/format.mjs'
import { loadLibrary } from '../lib/library.mjs'
import { createPool } from '../lib/messages.mjs'
import { dropDir, scratchDir } from '../lib/scratch.mjs'
import { createRandom, quantile, summarize } from '../lib/stats.mjs'
import { distributionChart } from '../lib/svg.mjs'

export const name = 'push'
export const title = 'Push'

const pollMs = 500
/** How long a new process gets to start and to begin waiting. */
const startMs = 600
const ways = [
  { way: 'wait', label: '`wait` in a loop (marks as shown, durably)', short: 'wait' },
  { way: 'watch', label: '`watch` (looks only)', short: 'watch' },
  {
    way: 'poll',
    label: `a look every ${pollMs} ms (marks as shown, durably)`,
    short: `a look every ${pollMs} ms`,
  },
  { way: 'command', label: 'the command `mailbox wait`, until its line is read', short: 'mailbox wait' },
]

export const steps = () => ways.length

export async function run(ctx) {
  const results = []
  for (const { way } of ways) {
    ctx.progress.step(way)
    const { pushes, polls, gapMs } = ctx.times
    if (way === 'command') results.push(await answerCommands(ctx))
    else results.push(await deliver(way, way === 'poll' ? polls : pushes, gapMs))
  }
  return { gapMs: ctx.times.gapMs, results }
}

async function deliver(way, count, gapMs) {
  const { openSpace } = await loadLibrary()
  const dir = scratchDir('push')
  const space = await openSpace({ dir })
  const child = new Child('receiver.mjs', `push-${way}`)
  await child.ask('open', { dir, name: 'bo' })
  const ada = await space.mailbox('ada')
  const warmUp = 50
  const arriving = child.ask('receive', { way, count: count + warmUp, everyMs: pollMs })
  const started = []
  const answered = []
  const chance = createRandom(5)
  const next = createPool(5)
  await sleep(200)
  for (let i = 0; i < count + warmUp; i++) {
    const { subject, body } = next()
    started[i] = sharedNow()
    await ada.send({ to: 'bo', subject, body, payload: { number: i } })
    answered[i] = sharedNow()
    await sleep(2 + chance() * 2 * (gapMs - 2))
  }
  const received = (await arriving).filter(({ number: i }) => i >= warmUp)
  await child.ask('close')
  await child.stop()
  await space.close()
  dropDir(dir)
  const latencies = Float64Array.from(received, ({ number: i, at }) => at - started[i]).sort()
  return {
    way,
    fromSend: summarize(latencies),
    fromAnswer: summarize(received.map(({ number: i, at }) => at - answered[i])),
    curve: Array.from({ length: 101 }, (_, percent) => [quantile(latencies, percent / 100), percent]),
  }
}

/** One process of the command line for each message: it waits, prints what came, and ends. */
async function answerCommands(ctx) {
  const { openSpace } = await loadLibrary()
  const dir = scratchDir('push')
  const space = await openSpace({ dir })
  const ada = await space.mailbox('ada')
  await space.mailbox('bo')
  const next = createPool(6)
  const fromSend = []
  const fromAnswer = []
  for (let i = 0; i < ctx.times.commandWaits; i++) {
    const waiting = spawn(process.execPath, [ctx.library.cli, '--space', dir, '--as', 'bo', '--json', 'wait'])
    const line = once(waiting.stdout, 'data').then(() => sharedNow())
    const ended = once(waiting, 'exit')
    await sleep(startMs)
    const started = sharedNow()
    await ada.send({ to: 'bo', ...next() })
    const answered = sharedNow()
    const at = await line
    fromSend.push(at - started)
    fromAnswer.push(at - answered)
    await ended
  }
  await space.close()
  dropDir(dir)
  const sorted = Float64Array.from(fromSend).sort()
  return {
    way: 'command',
    fromSend: summarize(fromSend),
    fromAnswer: summarize(fromAnswer),
    curve: Array.from({ length: 101 }, (_, percent) => [quantile(sorted, percent / 100), percent]),
  }
}

export function report({ results, gapMs }) {
  const rows = results.map(({ way, fromSend, fromAnswer }) => [
    ways.find((one) => one.way === way).label,
    number(fromSend.samples),
    duration(fromSend.p50),
    duration(fromSend.p99),
    duration(fromSend.max),
    duration(fromAnswer.p50),
  ])
  return `From the moment before \`send\` is called in one process to the moment the message is in the hands of another, at random gaps of ${gapMs} ms on average. The first ${50} messages warm up. The last column counts from the moment \`send\` has returned; it can be negative, because the receiver does not wait for the sender's disk.

![how long a message takes](push.svg)

${table(['received by', 'messages', 'p50', 'p99', 'max', 'p50 after the answer'], rows, 'lrrrrr')}`
}

export function plots({ results }) {
  const series = results.map(({ way, curve }) => ({
    label: ways.find((one) => one.way === way).short,
    points: curve,
  }))
  return {
    'push.svg': distributionChart({
      title: 'From send to received in another process',
      subtitle: 'share of messages that have arrived',
      series,
    }),
  }
}

export function aims({ results }) {
  const { fromSend } = results.find(({ way }) => way === 'wait')
  const watched = results.find(({ way }) => way === 'watch').fromSend
  const note = (share) => `by \`wait\`; by \`watch\` ${duration(watched[share])}`
  return [
    { aim: 'push p50', atMost: 3, unit: 'ms', measured: fromSend.p50, note: note('p50') },
    { aim: 'push p99', atMost: 20, unit: 'ms', measured: fromSend.p99, note: note('p99') },
  ]
}
