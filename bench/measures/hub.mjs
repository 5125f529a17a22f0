/** 9. A hub with many who follow: everything to everybody, once and in order, in a bounded memory. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Child } from '../lib/child.mjs'
import { sleep } from '../lib/clock.mjs'
import { duration, megabytes, number, table } from '../lib/format.mjs'
import { watchMemory } from '../lib/machine.mjs'
import { dropDir, onCleanup, scratchDir } from '../lib/scratch.mjs'
import { summarize } from '../lib/stats.mjs'

export const name = 'hub'
export const title = 'Hub'
export const steps = () => 1

/** How long the last follower may take to get the last entry before the measurement is given up. */
const catchUpMs = 120_000

export async function run({ progress, library, times }) {
  const { followers, perSecond, hubSeconds } = times
  progress.step(`${followers} followers, ${perSecond} messages a second`)
  const dir = scratchDir('hub')
  const sender = new Child('paced-sender.mjs', 'hub-sender')
  const after = await sender.ask('open', { dir })
  writeFileSync(join(dir, 'config.json'), '{"limits.ratePerMinute":0,"limits.inbox":0}\n', { mode: 0o600 })
  const hub = await startHub(library.cli, dir)
  const reader = new Child('followers.mjs', 'hub-followers')
  await reader.ask('open', { port: hub.port, token: hub.token, count: followers, after })
  const takeMemory = watchMemory(hub.pid)
  const { sent, ms, end } = await sender.ask('send', { perSecond, seconds: hubSeconds })
  const sentAt = performance.now()
  while ((await reader.ask('progress')) < end && performance.now() - sentAt < catchUpMs) await sleep(20)
  const lateMs = performance.now() - sentAt
  const memory = takeMemory()
  const { frames, wrong, latencies } = await reader.ask('result')
  const cpuSeconds = cpuOf(hub.pid)
  await reader.ask('close')
  await reader.stop()
  await sender.ask('close')
  await sender.stop()
  hub.process.kill('SIGTERM')
  await once(hub.process, 'exit')
  dropDir(dir)
  return {
    ...{ followers, perSecond, seconds: ms / 1_000, sent, frames, wrong, lateMs, cpuSeconds },
    missing: followers * (end - after) - frames,
    latency: summarize(latencies),
    memory,
  }
}

async function startHub(cli, dir) {
  const child = spawn(process.execPath, [cli, 'serve', '--space', dir, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onCleanup(() => child.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { url, token } = JSON.parse(line)
  return { process: child, pid: child.pid, port: Number(new URL(url).port), token }
}

/** In clock ticks, a hundred a second. */
function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export function report(result) {
  const { followers, perSecond, seconds, sent, frames, wrong, missing, latency, memory, lateMs } = result
  const rows = [
    ['followers (WebSocket)', number(followers)],
    ['messages sent', `${number(sent)} in ${number(seconds)} s (${number(perSecond)}/s wanted)`],
    ['entries handed out', `${number(frames)}, ${number(frames / seconds)}/s`],
    ['missing / out of order or doubled', `${number(missing)} / ${number(wrong)}`],
    [
      'from send to a follower',
      `p50 ${duration(latency.p50)}, p99 ${duration(latency.p99)}, max ${duration(latency.max)}`,
    ],
    ['the last follower had the last entry', `${duration(lateMs)} after the last send`],
    ['CPU of the hub', `${number(result.cpuSeconds)} s`],
    [
      'memory of the hub',
      `${megabytes(memory.start)} at first, ${megabytes(memory.settled)} after a third, ${megabytes(memory.end)} at the end, ${megabytes(memory.max)} at most`,
    ],
  ]
  return `\`mailbox serve\` in a process of its own, another process that sends into the same space, and a third with all followers. Every follower counts every entry.\n\n${table(['', ''], rows, 'll')}`
}

export function aims({ missing, wrong, memory }) {
  return [
    {
      aim: 'hub: entries lost, doubled or out of order',
      atMost: 0,
      unit: 'entries',
      measured: missing + wrong,
    },
    {
      aim: 'hub: memory at the end against after a third',
      atMost: 1.2,
      measured: memory.end / memory.settled,
    },
  ]
}
