import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { createChance } from '../helpers/history.ts'
import { startScript } from '../helpers/processes.ts'
import { Campaign, campaignSize } from '../helpers/storm.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'
import { until } from '../helpers/wait.ts'
import { mailOf, stageIn } from './stage.ts'

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))
const everywhere = 100_000
const perFormat = campaignSize('bridges', everywhere, 3)

beforeEach(() => needTool('strace'))

/** What another program has written: the first is brought before the exchange, the second in it. */
const files: Record<string, (n: number) => [path: string, text: string]> = {
  adr003: (n) => [
    `mailboxes/zoe/inbox/MSG-00000000000${n}.json`,
    JSON.stringify({
      ...{
        id: `MSG-00000000000${n}`,
        from_agent: 'ann',
        to_agent: 'zoe',
        type: 'notification',
        subject: `s${n}`,
      },
      ...{ body: `b${n}`, payload: {}, priority: 2, created_at: `2026-01-03T14:30:0${n}`, status: 'unread' },
    }),
  ],
  haak: (n) => [
    'agent-mailbox.jsonl',
    `${JSON.stringify({ id: `m${n}`, sender: 'ann', recipient: 'zoe', timestamp: '2026-03-16T14:30:00Z', content: `b${n}` })}\n`,
  ],
  'jean-claude': (n) => [
    'zoe/mailbox/inbox.jsonl',
    `${JSON.stringify({ id: `m${n}`, from: 'ann', to: 'zoe', type: 'status', subject: '', body: `b${n}` })}\n`,
  ],
  ao: (n) => [
    `zoe/inbox/m${n}.json`,
    JSON.stringify({
      id: `m${n}`,
      from: 'ann',
      to: 'zoe',
      timestamp: '2026-02-16T20:45:00.000Z',
      payload: { text: `b${n}` },
      requiresAck: true,
    }),
  ],
  ralph: (n) => [
    'alpha/mailbox/zoe.jsonl',
    `${JSON.stringify({ MessageId: `m${n}`, FromAgentId: 'ann', ToAgentId: 'zoe', Type: 'Text', Content: `b${n}` })}\n`,
  ],
}

const claudeTeam = 'session-f1b8b09d'
files['claude-teams'] = (n) => [
  `teams/${claudeTeam}/inboxes/zoe.json`,
  JSON.stringify([{ from: 'ann', text: `b${n}`, timestamp: `2026-02-16T20:45:0${n}.000Z`, msg_id: `m${n}` }]),
]

/** What has to be there before anybody writes, and what the one who writes is called here. */
const others: Record<string, { path?: string; text?: string; ann: string }> = {
  'claude-sessions': { ann: 'claude/alpha' },
  ralph: { path: 'alpha/mailbox/ann.jsonl', text: '', ann: 'alpha/ann' },
  'claude-teams': {
    path: `teams/${claudeTeam}/config.json`,
    text: JSON.stringify({
      ...{ name: claudeTeam, createdAt: 1, leadSessionId: 'f1b8b09d-fa8d-4fc4-b57e-85f0a385b9ec' },
      members: ['team-lead', 'ann'].map((name) => ({ agentId: `${name}@${claudeTeam}`, name, cwd: '/proj' })),
    }),
    ann: `${claudeTeam}/ann`,
  },
}

/** A killed process leaves its locks, which count for nothing after a while: here, at once. */
function ageLocks(folder: string): void {
  const old = new Date(Date.now() - 60_000)
  for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (name.endsWith('.lock')) utimesSync(join(parentPath, name), old, old)
}

/** The calls that are traced, and those of them that leave something behind. */
const changing = ['write', 'pwrite64', 'rename', 'unlink', 'mkdir', 'rmdir', 'ftruncate', 'link']
const calls = [...changing, 'fsync', 'fdatasync', 'openat', 'fcntl']
const leavesSomething = (call: string, line: string): boolean =>
  changing.includes(call) || (call === 'openat' && /O_CREAT|O_TRUNC/.test(line))

/** A space and a folder in the middle of an exchange: something to bring, to write, and a state each way. */
async function prepare(format: string, work: string): Promise<void> {
  const dir = join(work, 'space')
  const folder = join(work, 'folder')
  mkdirSync(folder, { recursive: true })
  const space = await openDisk({ dir, settings: testSettings })
  await space.join('zoe')
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...testSettings }))
  const side = stageIn(space, format, folder)
  const write = files[format]
  if (write !== undefined) side.put(...write(1))
  const { ann = 'ann', path: other, text: words = '' } = others[format] ?? {}
  if (other !== undefined) side.put(other, words)
  await side.sync()
  const zoe = space.mailboxInside('zoe')
  for (const { id } of await mailOf(space, 'zoe')) await zoe.done(id)
  await zoe.send({ to: ann, body: 'answer' })
  if (write !== undefined) {
    const [path, text] = write(2)
    side.put(path, path.endsWith('.jsonl') ? side.text(path) + text : text)
  }
  await space.close()
}

/** What the next run makes of it, and everything that is on both sides then, without times and temporary files. */
async function finished(format: string, work: string): Promise<object> {
  const space = await openDisk({ dir: join(work, 'space'), settings: testSettings })
  try {
    const side = stageIn(space, format, join(work, 'folder'))
    await side.sync()
    const { problems } = await space.verify({ deep: true })
    const mail: string[] = []
    for await (const { entry } of space.entries(0))
      if (entry.kind === 'message') {
        const { receipts } = await space.show(entry.message.id)
        mail.push(`${entry.message.from} ${entry.message.body} ${receipts.map(({ state }) => state).join()}`)
      }
    const root = join(work, 'folder')
    const there = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.includes('.tmp'))
      .map(({ parentPath, name }) => {
        const text = readFileSync(join(parentPath, name), 'utf8')
        return `${join(parentPath, name).slice(root.length)} ${text}`
          .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, 'TIME')
          .replaceAll(/"joinedAt": \d+/g, 'JOINED')
          .replaceAll(/2026-11-\d\dT\d+\.\d+Z/g, 'TIME')
      })
    return { problems, told: side.problems, mail: mail.sort(), there: there.sort() }
  } finally {
    await space.close()
  }
}

const bridge = (format: string, work: string, under: readonly string[] = []) => {
  const words = [
    ...under,
    process.execPath,
    cli,
    '--space',
    join(work, 'space'),
    'bridge',
    format,
    join(work, 'folder'),
    '--once',
  ]
  const { status, signal, stderr } = spawnSync(words[0]!, words.slice(1), { encoding: 'utf8' })
  return { status, signal, stderr }
}

const traced = (log: string, options: readonly string[]) => [
  'sh',
  '-c',
  `exec strace -D -f -q -y -o '${log}' ${options.join(' ')} "$@"`,
  'traced',
]

/** A session of Claude Code, which a bridge writes to. Gives what it has got since it was last asked. */
async function claudeSession(folder: string, root: string): Promise<() => string[]> {
  const log = join(root, 'taken.log')
  const words = [folder, join(root, 'cc-socks'), 'alpha', log]
  const session = startScript(new URL('foreign/claude-session.mjs', import.meta.url), words)
  await session.line(/ready/)
  return () => {
    const taken = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []
    rmSync(log, { force: true })
    return taken
  }
}

it.each([...Object.keys(files), 'claude-sessions'])(
  'a bridge to %s that is killed at any system call is finished by the next',
  { timeout: 7_200_000 },
  async (format) => {
    const campaign = new Campaign('bridges', perFormat, `killed ${format}`)
    const root = realpathSync(tempDir())
    const work = join(root, 'work')
    const template = join(root, 'template')
    const taken =
      format === 'claude-sessions' ? await claudeSession(join(work, 'folder'), root) : () => ['always']
    await prepare(format, work)
    cpSync(work, template, { recursive: true })
    const restore = () => {
      rmSync(work, { recursive: true, force: true })
      cpSync(template, work, { recursive: true })
    }
    // What one undisturbed run makes of it, and which calls it makes on the files of either side.
    restore()
    const log = join(root, 'calls.log')
    expect(bridge(format, work, traced(log, ['-e', `trace=${calls.join()}`]))).toMatchObject({ status: 0 })
    const expected = await finished(format, work)
    expect(taken()).toHaveLength(1)
    const counts = new Map<string, number>()
    const points: { call: string; nth: number }[] = []
    const paths = new Set<string>()
    // strace is not our child: it may end later than what it traces.
    const recorded = await until('strace has ended', () => {
      const text = readFileSync(log, 'latin1')
      const [pid] = /^\d+/.exec(text) ?? []
      return pid !== undefined && new RegExp(`^${pid} +\\+\\+\\+ exited`, 'm').test(text) && text
    })
    for (const line of recorded.split('\n')) {
      const call = /^\d+ +(\w+)\(/.exec(line)?.[1]
      const touched = [...line.matchAll(/["<](\/[^">]*)[">]/g)].map((match) => match[1]!)
      const own = touched.filter((path) => path.startsWith(`${work}/`))
      // strace counts the calls of each thread by itself; nearly all are made by the first.
      const isMain = line.startsWith(`${recorded.slice(0, recorded.indexOf(' '))} `)
      if (call === undefined || own.length === 0 || !isMain) continue
      for (const path of own) paths.add(path.replace(' (deleted)', ''))
      const nth = (counts.get(call) ?? 0) + 1
      counts.set(call, nth)
      // A kill at any other call leaves the same files as one at the next call that changes something.
      if (leavesSomething(call, line)) points.push({ call, nth })
    }
    const callCount = [...counts.values()].reduce((sum, count) => sum + count, 0)
    const chance = createChance(11)
    const chosen = points.length <= perFormat ? points : points.sort(() => chance() - 0.5).slice(0, perFormat)
    const only = [...paths].flatMap((path) => ['-P', `'${path}'`])
    let killed = 0
    let twice = 0
    for (const { call, nth } of chosen) {
      restore()
      const startedAt = Date.now()
      const inject = [...only, '-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${nth}`]
      const { signal, status } = bridge(format, work, traced(log, inject))
      if (signal !== null || status !== 0) killed++
      ageLocks(join(work, 'folder'))
      expect(await finished(format, work), `after ${call} ${nth}`).toEqual(expected)
      // A session takes no copy within 30 seconds. After that it is delivered again: docs/bridges.md.
      const times = taken().length
      const isSoon = Date.now() - startedAt < 30_000
      expect(isSoon ? [1] : [1, 2], `after ${call} ${nth}`).toContain(times)
      if (times === 2) twice++
    }
    expect(killed).toBeGreaterThan(0)
    campaign.end({
      'system calls of one exchange': callCount,
      'of them leave something behind': points.length,
      'kills at one of them': killed,
      ...(format === 'claude-sessions' ? { 'messages delivered again': twice } : {}),
    })
  },
)
