/** Bridges: how long a message takes from one side to the other at rest, and how fast old mail is imported. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, renameSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { duration, number, rate, table } from '../lib/format.mjs'
import { loadLibrary } from '../lib/library.mjs'
import { scratchDir } from '../lib/scratch.mjs'

export const name = 'bridge'
export const title = 'Bridges'

export const steps = () => 3

const imported = 100_000
const letters = 60

export async function run(ctx) {
  const { cli } = ctx.library
  ctx.progress.step(`importing ${number(imported)}`)
  const importMs = importOld(cli)
  const dir = scratchDir('bridge')
  const folder = join(dir, 'sessions')
  for (const session of ['zoe', 'ao-10']) mkdirSync(join(folder, session, 'inbox'), { recursive: true })
  const { openSpace } = await loadLibrary()
  const space = await openSpace({ dir: join(dir, 'space') })
  const zoe = await space.mailbox('zoe')
  const bridge = spawn(process.execPath, [cli, '--space', join(dir, 'space'), 'bridge', 'ao', folder])
  try {
    await once(bridge.stdout, 'data')
    while (!(await space.agents()).some((agent) => agent.name === 'ao-10')) await sleep(20)
    ctx.progress.step('from the folder into the space')
    const inMs = []
    for (let n = 0; n < letters; n++) {
      const waiting = zoe.wait({ timeoutMs: 10_000 })
      await sleep(50)
      const path = join(folder, 'zoe', 'inbox', `m${n}.json`)
      const message = {
        id: `m${n}`,
        from: 'ao-10',
        to: 'zoe',
        timestamp: new Date().toISOString(),
        type: 'text',
      }
      writeFileSync(`${path}.tmp`, JSON.stringify({ ...message, payload: { text: `${n}` } }))
      const began = performance.now()
      renameSync(`${path}.tmp`, path)
      await waiting
      inMs.push(performance.now() - began)
    }
    ctx.progress.step('from the space into the folder')
    const outMs = []
    for (let n = 0; n < letters; n++) {
      await sleep(50)
      outMs.push(await lagOut(zoe, join(folder, 'ao-10', 'inbox')))
    }
    return { importMs, inMs: median(inMs), outMs: median(outMs) }
  } finally {
    bridge.kill('SIGTERM')
    await once(bridge, 'close')
    await space.close()
  }
}

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1]

/** From the moment that a send returns until the file is there. */
async function lagOut(zoe, inbox) {
  const changed = new AbortController()
  const arrived = new Promise((resolve) => {
    const look = (_, file) => {
      if (file?.endsWith('.json') && existsSync(join(inbox, file))) resolve(performance.now())
    }
    watch(inbox, { signal: changed.signal }, look)
  })
  await zoe.send({ to: 'ao-10', body: `letter ${readdirSync(inbox).length}` })
  const began = performance.now()
  const at = await arrived
  changed.abort()
  return Math.max(0, at - began)
}

function importOld(cli) {
  const dir = scratchDir('import')
  let text = ''
  for (let n = 0; n < imported; n++)
    text += `${JSON.stringify({
      ...{ id: `old-${n}`, sender: `sess-${n % 20}`, recipient: `sess-${(n + 1) % 20}` },
      ...{ timestamp: new Date(1_750_000_000_000 + n * 1_000).toISOString() },
      ...{
        content: `Old message ${n} with a sentence of some words in it.`,
        thread: null,
        ttl_hours: null,
        read_by: [],
      },
    })}\n`
  writeFileSync(join(dir, 'agent-mailbox.jsonl'), text)
  const began = performance.now()
  execFileSync(
    process.execPath,
    [cli, '--space', join(dir, 'space'), '--json', 'import', '--format', 'haak', dir],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  return performance.now() - began
}

export function report({ importMs, inMs, outMs }) {
  const rows = [
    ['a file that is renamed into an inbox, until the agent here has the message', duration(inMs)],
    ['a message that was sent here, until its file is there', duration(outMs)],
    [
      `import of ${number(imported)} old messages`,
      `${duration(importMs)}, ${rate(imported / (importMs / 1_000))}`,
    ],
  ]
  return `A bridge to \`ao\` in a process of its own, at rest; medians of ${letters}. The import is \`mailbox import --format haak\`, with the start of the process.

${table(['', 'time'], rows, 'lr')}`
}

export function aims({ importMs, inMs, outMs }) {
  return [
    { aim: 'lag of a bridge, into the space', atMost: 50, measured: inMs, unit: 'ms' },
    { aim: 'lag of a bridge, out of the space', atMost: 50, measured: outMs, unit: 'ms' },
    {
      aim: 'import of old messages, a second',
      atLeast: 20_000,
      measured: imported / (importMs / 1_000),
      unit: '/s',
    },
  ]
}
