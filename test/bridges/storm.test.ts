import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createAgentToken } from '../../src/hub/tokens.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { createChance } from '../helpers/history.ts'
import { freePort } from '../helpers/postgres.ts'
import { Campaign, campaignSize, isStorm } from '../helpers/storm.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'
import { letPass } from '../helpers/wait.ts'
import { type Stage, stageIn } from './stage.ts'

const letters = campaignSize('bridges', 2_000, 25)
const kills = Math.ceil(letters / 25)
const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))
const foreign = (file: string) => fileURLToPath(new URL(`foreign/${file}`, import.meta.url))

beforeEach(() => needTool('python3'))

interface Other {
  /** The program that speaks the format, and the name of its agent in the space. */
  program: string
  name: string
  /** Where zoe has her mail there. */
  place: string
  /** The numbers of what zoe has sent that are there, in order, and of what is finished there. */
  arrived: (side: Stage) => number[]
  finishedThere: (side: Stage) => number
  /** The state that zoe sees of her messages in the end. */
  endsAs: string
  /** How much of what she got is finished there as well. */
  finishedHere: (side: Stage) => number
}

const json = (text: string) => JSON.parse(text) as Record<string, unknown>
const linesOf = (side: Stage, path: string) => side.text(path).trim().split('\n').map(json)
const inDir = (side: Stage, dir: string) => {
  const files = side.files(dir).filter((file) => file.endsWith('.json'))
  return files.map((file) => ({ file, ...json(side.text(file)) })) as (Record<string, unknown> & {
    file: string
  })[]
}
const numberIn = (text: unknown) => Number(/\d+$/.exec(String(text))?.[0])
/** By time, and where that is the same, by the names of the files, which have the ids in them. */
const byTime = (field: string) => (a: Record<string, unknown>, b: Record<string, unknown>) =>
  `${String(a[field])} ${String(a['file'])}` < `${String(b[field])} ${String(b['file'])}` ? -1 : 1

const others: Record<string, Other> = {
  adr003: {
    ...{ program: 'adr003.py', name: 'worker', place: 'mailboxes/zoe/inbox', endsAs: 'archived' },
    arrived: (side) =>
      inDir(side, 'mailboxes/worker')
        .filter(({ from_agent: from }) => from === 'zoe')
        .sort(byTime('created_at'))
        .map(({ body }) => numberIn(body)),
    finishedThere: (side) => inDir(side, 'mailboxes/worker/archive').length,
    finishedHere: (side) => inDir(side, 'mailboxes/zoe/archive').length,
  },
  haak: {
    ...{ program: 'haak.py', name: 'sess-1', place: '', endsAs: 'shown' },
    arrived: (side) =>
      linesOf(side, 'agent-mailbox.jsonl')
        .filter(({ sender }) => sender === 'zoe')
        .map(({ content }) => numberIn(content)),
    finishedThere: (side) =>
      linesOf(side, 'agent-mailbox-reads.jsonl').filter(({ reader_session_id: id }) => id === 'sess-1')
        .length,
    finishedHere: (side) =>
      linesOf(side, 'agent-mailbox-reads.jsonl').filter(({ reader_session_id: id }) => id === 'zoe').length,
  },
  'jean-claude': {
    ...{ program: 'jean-claude.py', name: 'flow', place: 'zoe/mailbox', endsAs: 'shown' },
    arrived: (side) => linesOf(side, 'flow/mailbox/inbox.jsonl').map(({ body }) => numberIn(body)),
    finishedThere: (side) => letters - Number(json(side.text('flow/mailbox/inbox_count.json'))['unread']),
    finishedHere: (side) => (json(side.text('zoe/mailbox/inbox_count.json'))['unread'] === 0 ? letters : 0),
  },
  ao: {
    ...{ program: 'ao.mjs', name: 'ao-10', place: 'zoe/inbox', endsAs: 'acked' },
    arrived: (side) =>
      inDir(side, 'ao-10/inbox')
        .filter(({ type }) => type !== 'ack')
        .sort(byTime('timestamp'))
        .map(({ payload }) => numberIn((payload as { text: string }).text)),
    finishedThere: (side) => {
      const done = inDir(side, 'ao-10/inbox/processed')
      const acks = done.filter(({ type }) => type === 'ack').map(({ replyTo }) => replyTo)
      expect([acks.length, new Set(acks).size], 'acks of what came from there').toEqual([letters, letters])
      return done.length - letters
    },
    finishedHere: (side) => inDir(side, 'zoe/inbox/processed').length,
  },
  ralph: {
    ...{ program: 'ralph.mjs', name: 'alpha/agent-1', place: 'alpha/mailbox', endsAs: 'notified' },
    arrived: (side) =>
      linesOf(side, 'alpha/mailbox/agent-1.jsonl').map(({ Content: text }) => numberIn(text)),
    finishedThere: () => letters,
    finishedHere: () => letters,
  },
}

/** A process that is killed now and then and started again, until it has ended by itself. */
class Restarted {
  kills = 0
  #isOver = false
  #child: ChildProcess | undefined
  stderr = ''
  readonly ended: Promise<void>

  constructor(command: string, args: readonly string[], env: Record<string, string> = {}) {
    this.ended = this.#run(command, args, env)
  }

  async #run(command: string, args: readonly string[], env: Record<string, string>): Promise<void> {
    while (!this.#isOver) {
      const child = spawn(command, args, {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, ...env },
      })
      child.stderr.on('data', (data: Buffer) => (this.stderr += data.toString()))
      this.#child = child
      const [code] = (await once(child, 'close')) as [number | null]
      if (code === 0) return
    }
  }

  kill(): void {
    if (this.#child?.kill('SIGKILL')) this.kills++
  }

  async end(): Promise<void> {
    this.#isOver = true
    this.#child?.kill('SIGKILL')
    await this.ended
  }
}

/** Zoe takes everything that comes, and finishes it. Gives the numbers in the order in which they came. */
async function takeAll(space: DiskSpace, from: string): Promise<number[]> {
  const zoe = await space.mailbox('zoe', { join: false })
  const numbers: number[] = []
  while (numbers.length < letters) {
    const messages = await zoe.waitForMessages({ from, timeoutMs: 5_000 })
    for (const { id, body, payload } of messages.sort((a, b) => a.seq - b.seq)) {
      numbers.push(body === '' ? Number((payload as { n: number }).n) : numberIn(body.replace(' é', '')))
      await zoe.done(id)
    }
  }
  return numbers
}

const states = async (space: DiskSpace, ids: readonly string[], name: string) =>
  Promise.all(
    ids.map(async (id) => (await space.show(id)).receipts.find(({ recipient }) => recipient === name)?.state),
  )

/** How a bridge reaches its space, and who can be killed on the way. */
interface Way {
  bridge: Restarted
  hub?: Restarted
  /** One more bridge that brings both sides up to date; `forgets`: it knows nothing of those before it. */
  sync: (options?: { forgets?: boolean }) => Promise<{ brought: number; problems: unknown[] }>
}

function here(space: DiskSpace, format: string, folder: string): Way {
  const side = stageIn(space, format, folder)
  return {
    bridge: new Restarted(process.execPath, [cli, '--space', space.dir, 'bridge', format, folder]),
    async sync({ forgets = false } = {}) {
      const { brought } = await side.sync(forgets ? { memory: ':memory:' } : {})
      return { brought, problems: side.problems }
    },
  }
}

async function throughHub(space: DiskSpace, format: string, folder: string): Promise<Way> {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const token = createAgentToken(space.dir, 'bridge', { scopes: ['read-all', 'bridge'] })
  const env = { XDG_CONFIG_HOME: tempDir(), MAILBOX_SPACE: url, MAILBOX_TOKEN: token }
  const words = [cli, 'bridge', format, folder]
  return {
    hub: new Restarted(process.execPath, [cli, '--space', space.dir, 'serve', '--port', port]),
    bridge: new Restarted(process.execPath, words, env),
    async sync({ forgets = false } = {}) {
      const config = forgets ? { XDG_CONFIG_HOME: tempDir() } : {}
      const { status, stdout, stderr } = spawnSync(process.execPath, [...words, '--once', '--json'], {
        encoding: 'utf8',
        env: { ...process.env, ...env, ...config },
      })
      expect([status, stderr]).toEqual([0, ''])
      return JSON.parse(stdout) as { brought: number; problems: unknown[] }
    },
  }
}

/** `npm run storm` takes all formats through a hub. */
const hubs = isStorm ? Object.keys(others) : ['ao']
const ways = [
  ...Object.keys(others).map((format) => [format, 'here'] as const),
  ...hubs.map((format) => [format, 'through a hub'] as const),
]

describe.each(ways)('%s %s', (format, where) => {
  it('loses and doubles nothing while either side is killed', { timeout: 3_600_000 }, async () => {
    const campaign = new Campaign('bridges', letters, `${format} ${where}`)
    const { program, name, place, arrived, finishedThere, finishedHere, endsAs } = others[format]!
    const space = await tempSpace()
    await space.join('zoe')
    const folder = tempDir()
    const side = stageIn(space, format, folder)
    mkdirSync(join(folder, place), { recursive: true })
    const config = { 'limits.ratePerMinute': 0, 'limits.inbox': 0, durability: 'os' }
    writeFileSync(join(space.dir, 'config.json'), JSON.stringify(config))
    const python = program.endsWith('.py')
    const words = [foreign(program), folder, name, 'zoe', String(letters), String(letters)]
    const other = new Restarted(python ? 'python3' : process.execPath, words)
    const { bridge, hub, sync } =
      where === 'here' ? here(space, format, folder) : await throughHub(space, format, folder)
    onTestFinished(async () => {
      await Promise.all([other.end(), bridge.end(), hub?.end()])
    })
    const chance = createChance(7)
    let isOver = false
    const killing = (async () => {
      for (let n = 0; n < kills && !isOver; n++) {
        await letPass(200 + chance() * 800)
        if (isOver) break
        const lot = chance()
        if (hub !== undefined && lot < 0.3) hub.kill()
        else if (lot < 0.6) bridge.kill()
        else other.kill()
      }
    })()
    const taken = takeAll(space, name)
    const ids: string[] = []
    while (!space.core.agents.has(name)) {
      await letPass(20)
      await space.agents()
    }
    const zoe = await space.mailbox('zoe', { join: false })
    for (let n = 0; n < letters; n++) {
      const { id } = await zoe.send({ to: name, body: `to you: ${n}`, requiresAck: format === 'ao' })
      ids.push(id)
    }
    const numbers = await taken
    await other.ended
    isOver = true
    await killing
    await bridge.end()
    const { problems } = await sync()
    const expected = Array.from({ length: letters }, (_, n) => n)
    expect(numbers, 'what came from there, in order').toEqual(expected)
    expect(arrived(side), 'what is there, in order').toEqual(expected)
    expect(new Set(await states(space, ids, name)), 'states here').toEqual(new Set([endsAs]))
    expect([finishedThere(side), finishedHere(side)], 'states there').toEqual([letters, letters])
    expect(problems).toEqual([])
    expect((await sync({ forgets: true })).brought).toBe(0)
    expect(arrived(side)).toHaveLength(letters)
    campaign.end({
      'messages each way': letters,
      'kills of the bridge': bridge.kills,
      'kills of the other side': other.kills,
      ...(hub && { 'kills of the hub': hub.kills }),
    })
  })
})
