import { spawnSync } from 'node:child_process'
import {
  cpSync,
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
const others: Record<string, { path: string; text: string; ann: string }> = {
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

/** Calls that leave something behind. */
const calls = 'write,pwrite64,fsync,fdatasync,rename,unlink,mkdir,openat,ftruncate,link,fcntl'.split(',')

/** A space and a folder in the middle of an exchange: something to bring, to write, and a state each way. */
async function prepare(format: string, work: string): Promise<void> {
  const dir = join(work, 'space')
  const folder = join(work, 'folder')
  mkdirSync(folder, { recursive: true })
  const space = await openDisk({ dir, settings: testSettings })
  await space.join('zoe')
  writeFileSync(join(dir, 'config.json'), JSON.stringify({ ...testSettings }))
  const side = stageIn(space, format, folder)
  const put = (n: number) => {
    const [path, text] = files[format]!(n)
    side.put(path, text)
  }
  put(1)
  const { ann = 'ann', path: other, text: words = '' } = others[format] ?? {}
  if (other !== undefined) side.put(other, words)
  await side.sync()
  const zoe = space.mailboxInside('zoe')
  const [first] = await mailOf(space, 'zoe')
  await zoe.done(first!.id)
  await zoe.send({ to: ann, body: 'answer' })
  const [path, text] = files[format]!(2)
  if (path.endsWith('.jsonl')) side.put(path, side.text(path) + text)
  else put(2)
  await space.close()
}

/** Everything there is on both sides, without times and temporary files. */
async function picture(work: string): Promise<object> {
  const space = await openDisk({ dir: join(work, 'space'), settings: testSettings })
  try {
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
    return { problems, mail: mail.sort(), there: there.sort() }
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

it.each(Object.keys(files))(
  'a bridge to %s that is killed at any system call is finished by the next',
  { timeout: 7_200_000 },
  async (format) => {
    const root = realpathSync(tempDir())
    const work = join(root, 'work')
    const template = join(root, 'template')
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
    const expected = await picture(work)
    const counts = new Map<string, number>()
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
      counts.set(call, (counts.get(call) ?? 0) + 1)
    }
    const points = [...counts].flatMap(([call, count]) =>
      Array.from({ length: count }, (_, n) => ({ call, nth: n + 1 })),
    )
    const chance = createChance(11)
    const chosen = points.length <= perFormat ? points : points.sort(() => chance() - 0.5).slice(0, perFormat)
    const only = [...paths].flatMap((path) => ['-P', `'${path}'`])
    let killed = 0
    for (const { call, nth } of chosen) {
      restore()
      const inject = [...only, '-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${nth}`]
      const { signal, status } = bridge(format, work, traced(log, inject))
      if (signal !== null || status !== 0) killed++
      if (format === 'claude-teams') ageLocks(join(work, 'folder'))
      expect(bridge(format, work), `after ${call} ${nth}`).toMatchObject({ status: 0 })
      expect(await picture(work), `after ${call} ${nth}`).toEqual(expected)
    }
    expect(killed).toBeGreaterThan(0)
    new Campaign('bridges', chosen.length, `killed ${format}`).end({
      'system calls of one exchange': points.length,
      'kills at one of them': killed,
    })
  },
)
