// One life of a machine, from the start to a power cut: `boot DISK VICTIM CUT TOLD`. DISK is the mounted file system,
// TOLD a file with everything that was ever promised on it. Checks that all of that is there, has victims work for
// a moment, and cuts the power in the way CUT says, unless that is `none`. Prints a line of JSON: what is wrong, and
// how many files went that nobody had synced.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readFileIfAny } from '../../src/base/files.ts'
import { Callers } from '../../src/hub/callers.ts'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { openDisk } from '../../src/space/open.ts'
import { readSettings } from '../../src/space/settings.ts'
import { letPass } from '../helpers/wait.ts'

/** What was promised in a space. */
interface Promised {
  ids: string[]
  done: string[]
  /** The last setting, and the last token of each agent. */
  set?: number
  tokens: Record<string, string>
  /** How many settings and tokens there were. */
  changes: number
}

/** Everything that was promised on a disk. */
export interface Promises {
  boots: number
  spaces: Record<string, Promised>
  /** Files that were never synced. */
  unsynced: string[]
}

const [disk, victim, cut, toldFile] = process.argv.slice(2) as [string, string, string, string]
const promises = JSON.parse(readFileSync(toldFile, 'utf8')) as Promises
const wrong: string[] = []

async function idsIn(dir: string): Promise<Map<string, number>> {
  const ids = new Map<string, number>()
  const journal = new FileJournal({ dir })
  for (let cursor = startCursor; ; ) {
    const { entries, cursor: next } = journal.read(cursor)
    if (entries.length === 0) break
    cursor = next
    for (const { entry } of entries) {
      const done = entry.kind === 'receipt' && entry.step === 'completed' ? entry.changes : []
      const found = entry.kind === 'message' ? [entry.message.id] : done.map(({ id }) => `done ${id}`)
      for (const id of found) ids.set(id, (ids.get(id) ?? 0) + 1)
    }
  }
  await journal.close()
  return ids
}

/** Opens a space as the first after a power cut, and looks for everything that was promised. */
async function check(name: string): Promise<void> {
  const dir = join(disk, name)
  const { ids, done, set, tokens } = promises.spaces[name]!
  const told = [...ids, ...done.map((id) => `done ${id}`)]
  if (!existsSync(dir)) {
    if (told.length > 0) wrong.push(`${name} is gone, with ${told.length} promises`)
    return
  }
  try {
    const found = await idsIn(dir)
    for (const id of told)
      if (found.get(id) !== 1) wrong.push(`${name}: ${id} is there ${found.get(id) ?? 0} times`)
    const space = await openDisk({ dir })
    await (await space.mailbox('first')).count()
    const { problems } = await space.verify({ deep: true })
    for (const problem of problems) wrong.push(`${name}: ${problem}`)
    await space.close()
    const now = readSettings(dir)['limits.threadMessages']
    if (set !== undefined && now < set) wrong.push(`${name}: a setting is ${now} and was ${set}`)
    const known = Object.keys(tokens).length === 0 ? undefined : new Callers(dir)
    for (const [agent, token] of Object.entries(tokens))
      if (known?.callerOf(token)?.agent !== agent) wrong.push(`${name}: the token of ${agent} is lost`)
  } catch (error) {
    wrong.push(`${name} cannot be used: ${(error as Error).stack}`)
  }
}

const unsyncedText = 'nobody syncs this'

/** What nobody synced may go. Counted, so that it is known whether the power was really cut. */
function unsyncedThatWent(): number {
  return promises.unsynced.filter((file) => readFileIfAny(join(disk, 'unsynced', file)) !== unsyncedText)
    .length
}

interface Work {
  process: ChildProcess
  lines: string[]
  ready: Promise<void>
  gone: Promise<unknown>
}

function start(space: string, kind: string, at: number): Work {
  const args = [victim, join(disk, space), `victim-${at}`, `${promises.boots}`, kind, 'disk']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      if (line === 'ready') resolve()
    })
    child.once('close', () => resolve())
  })
  return { process: child, lines, ready, gone: new Promise((resolve) => child.once('close', resolve)) }
}

/**
 * The file system forgets what it has not put on the disk: 1 keeps its own journal so far, 2 not even that. It waits
 * for a line, so that nothing lies between the last word of a victim and the cut.
 */
const shutDown = `$| = 1; open(my $dir, "<", $ARGV[0]) or die $!; my $how = pack("L", $ARGV[1]);
print "ready\\n"; <STDIN>; ioctl($dir, 0x8004587d, $how) or die $!`

/**
 * Without power nobody speaks: they stop before the cut, in the middle of a sync if it happens so. Syncs that are
 * under way then may be reported as done although they were not.
 */
async function cutPower(victims: readonly ChildProcess[]): Promise<void> {
  const perl = spawn('perl', ['-e', shutDown, disk, cut], { stdio: ['pipe', 'pipe', 'inherit'] })
  await new Promise((resolve) => perl.stdout.once('data', resolve))
  for (const one of victims) one.kill('SIGSTOP')
  for (const { pid } of victims) while (isRunning(pid!));
  perl.stdin.end('now\n')
  const status = await new Promise((resolve) => perl.once('close', resolve))
  if (status !== 0) throw new Error('the power could not be cut')
}

/** Whether its main thread, which speaks, is at work rather than stopped or in a call that cannot be interrupted. */
const isRunning = (pid: number): boolean => /\) R /.test(readFileIfAny(`/proc/${pid}/stat`) ?? '')

async function live(): Promise<void> {
  promises.boots++
  for (const name of Object.keys(promises.spaces)) await check(name)
  const went = unsyncedThatWent()
  if (cut === 'none') {
    process.stdout.write(`${JSON.stringify({ wrong, went })}\n`)
    return
  }
  // One space lives through all the cuts; another is only being made when the power goes.
  const fresh = `fresh-${promises.boots}`
  const kinds = ['small', 'handling', 'settings'].map((kind) => ['lasting', kind] as const)
  const work = [...kinds, [fresh, 'small'] as const].map(([space, kind], at) => ({
    space,
    at,
    ...start(space, kind, at),
  }))
  // Half of the cuts come while the victims start.
  if (Math.random() < 0.5) await Promise.all(work.map(({ ready }) => ready))
  const unsynced = join(disk, 'unsynced')
  mkdirSync(unsynced, { recursive: true })
  promises.unsynced = []
  const until = performance.now() + Math.random() * 700
  // One of them may die before: others then answer for what it left.
  const death = performance.now() + Math.random() * 700
  do {
    await letPass(20)
    if (performance.now() > death) work[0]!.process.kill('SIGKILL')
    const name = `${promises.boots}-${promises.unsynced.length}`
    writeFileSync(join(unsynced, 'new'), unsyncedText)
    renameSync(join(unsynced, 'new'), join(unsynced, name))
    promises.unsynced.push(name)
  } while (performance.now() < until)
  await cutPower(work.map((one) => one.process))
  for (const one of work) one.process.kill('SIGKILL')
  await Promise.all(work.map(({ gone }) => gone))
  for (const { space, lines } of work) keep(space, lines)
  writeFileSync(toldFile, JSON.stringify(promises))
  process.stdout.write(`${JSON.stringify({ wrong, went })}\n`)
}

function keep(space: string, lines: readonly string[]): void {
  const promised = promises.spaces[space] ?? { ids: [], done: [], tokens: {}, changes: 0 }
  promises.spaces[space] = promised
  for (const line of lines) {
    const [word, what, more] = line.split(' ') as [string, string, string]
    if (word === 'sent') promised.ids.push(more)
    if (word === 'done') promised.done.push(what)
    if (word === 'set') promised.set = Number(what)
    if (word === 'token') promised.tokens[what] = more
    if (word === 'set' || word === 'token') promised.changes++
  }
  // After a setting comes a token. It may have replaced the old one although nobody was told.
  const [word, number] = lines.at(-1)?.split(' ') ?? []
  if (word === 'set') delete promised.tokens[`agent-${Number(number) % 10}`]
}

live().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
