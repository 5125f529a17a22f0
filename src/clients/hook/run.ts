import { existsSync, fstatSync, mkdirSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { subagentRefusal } from '../../agent/subagent.ts'
import { MailboxError } from '../../base/errors.ts'
import { identifyByProc } from '../../base/process.ts'
import { sleepSync } from '../../base/timers.ts'
import type { Client } from '../../model/client.ts'
import type { OpenedSpace } from '../../space/api.ts'
import { workAtDesk } from '../../space/desk/seat-at-desk.ts'
import { tokenFor } from '../../space/logins.ts'
import { findPlace, type Place, stateDirFor } from '../../space/place.ts'
import { checkSpaceDir } from '../../space/settings.ts'
import type { DiskSpace } from '../../space/space.ts'
import { isTrusted } from '../../space/trust.ts'
import { newMailNotice } from './arrivals.ts'
import { Delegations } from './delegations.ts'
import type { Dialect, HookEvent, HookInput } from './dialect.ts'
import { dialects } from './dialects.ts'
import { HandoverNote } from './handover-note.ts'
import { readHookState } from './hook-state.ts'
import { recordRun } from './last-run.ts'
import { noteWork } from './life.ts'
import { log } from './log.ts'
import { clientAbove } from './process.ts'
import { type HookContext, type HookSpace, respond } from './respond.ts'

export interface HookOptions {
  client: string
  /** As the client calls it. */
  event: string
  /**
   * The space: its directory, the address of its hub, or the name of a login. Empty: MAILBOX_SPACE has the address of
   * one in a database.
   */
  space: string
  /** The person has named it, instead of having it found. @default MAILBOX_SPACE names it */
  isNamed?: boolean
  /** The client's process, or one below it. */
  pid: number
  /** The arguments that start Node with this program for another event of the same client. */
  argsFor: (event: string) => readonly string[]
  /** Called when something is said. */
  onSaid?: () => void
}

/** A client waits for its hooks. Claude Code gives the end of a session 1.5 s. */
const limitMs = 10_000
const endLimitMs = 1_300
/** How long to try to reach a hub that does not answer. */
const hubPatienceMs = 1_000

/**
 * Handles one event of a client. Never throws and never takes long: problems are logged in the space's `hooks.log`,
 * and the client continues as if it had no mailbox. Resolves with the exit code.
 */
export async function runHook(given: HookOptions): Promise<number> {
  let options = given
  const { client, event: name } = given
  let dir = given.space
  let isUsed = false
  try {
    const place = findPlace({ given: dir || undefined, env: process.env, cwd: process.cwd() })
    const isHub = place.kind === 'hub'
    dir = isHub ? stateDirFor(place.url, process.env) : place.dir
    if (given.space === '') options = { ...given, space: dir, isNamed: true }
    const dialect = Object.hasOwn(dialects, client) ? dialects[client as Client] : undefined
    // A hub is never found by chance: somebody has named it.
    if (dialect === undefined || !(isHub || mayUse(options, dir))) return 0
    isUsed = true
    if (isHub) mkdirSync(dir, { recursive: true, mode: 0o700 })
    const event = dialect.parse(name, readInput())
    // The first session creates the space, so that its agent is told who it is.
    if (!isHub && event?.moment !== 'start' && !existsSync(join(dir, 'journal'))) return 0
    recordRun(dir, dialect.client, name)
    if (event === undefined) return 0
    const limit = startLimit(dir, `${client} ${name}`, event)
    return await handle({ ...options, place, dir }, dialect, event).finally(() => clearTimeout(limit))
  } catch (error) {
    if (isUsed) log(dir, `${client} ${name}`, error)
    return 0
  }
}

/**
 * Nothing is read from or written into a space that the person has not named or agreed to, or that leads elsewhere
 * through links.
 */
function mayUse(
  { space, isNamed = process.env['MAILBOX_SPACE'] === space }: HookOptions,
  dir: string,
): boolean {
  if (!isNamed && !isTrusted(dir, process.env)) return false
  if (existsSync(dir)) checkSpaceDir(dir)
  return true
}

/** A hook, and where it keeps what it knows: in the space, or beside what is known of a hub. */
type Placed = HookOptions & { place: Place; dir: string }

async function handle(options: Placed, dialect: Dialect, event: HookEvent): Promise<number> {
  const { client, event: name, place, dir, pid, argsFor } = options
  const isWait = event.moment === 'wait'
  const own = identifyByProc(dialect.tellsPid ? pid : clientAbove(pid))
  const delegations = new Delegations(dir, client, own)
  if (event.moment === 'delegate') delegations.begin(event.delegation!)
  if (event.moment === 'call' && (event.fromSubagent || delegations.isUnderWay))
    print(dialect.format(name, { refusal: subagentRefusal }))
  if (event.moment === 'delegate' || event.moment === 'call') return 0
  const agent = process.env['MAILBOX_AGENT'] || undefined
  const session = { pid: own.pid, ...(event.sessionId === undefined ? {} : { id: event.sessionId }) }
  // A wait in the background may start just after the session has ended, and must not bring it back.
  const seat = { name: agent, client, session, joins: !isWait }
  let isPrinted = false
  const reply = async (context: HookContext) => {
    const { works } = readHookState(context)
    await respond(context, event, (said) => {
      isPrinted = true
      options.onSaid?.()
      print(dialect.format(name, said))
    })
    if (!isPrinted) print(dialect.emptyReply ?? '')
    const isIdle = ['start', 'stop'].includes(event.moment) && readHookState(context).works === works
    // A client that cannot run our wait in the background leaves that to us.
    if (isIdle && typeof dialect.wake === 'function') await startWaiting(argsFor('Rewake'), event)
  }
  // What is announced is recorded after it was said, and is not to be said again.
  const isBrief =
    place.kind === 'directory' && deskMoments.includes(event.moment) && event.announceOnly !== true
  const isDone =
    isBrief &&
    (await workAtDesk(dir, seat, ({ mailbox, ...asked }) =>
      reply({ space: { ...asked, stateDir: dir }, mailbox, client, process: own }),
    ))
  // What was said is said: only the stamp is missing, and the next hook makes it.
  if (!isDone && !isPrinted) {
    await using space = await openPlace(place, agent)
    const mailbox = await space.joinAs(seat).catch((error: unknown) => {
      if (!isWait || !(error instanceof MailboxError)) throw error
    })
    if (mailbox === undefined) return 0
    const context = { space: hookSpace(space), mailbox, client, process: own }
    if (isWait) return await wait(context, dialect, event)
    if (isBrief) await takeBack(context)
    await reply(context)
  }
  return 0
}

/** When the desk is asked: often, and while somebody waits. The start and the end of a session do more. */
const deskMoments: readonly HookEvent['moment'][] = ['prompt', 'tool', 'stop']

const isOnDisk = (space: OpenedSpace): space is DiskSpace => 'core' in space

function hookSpace(space: OpenedSpace): HookSpace {
  const desk = isOnDisk(space) ? space.core.desk : undefined
  const { stateDir, now, agents, lastSeq, endRun } = space
  return {
    ...{ stateDir, now, agents, lastSeq, endRun },
    ...(isOnDisk(space) && { core: space.core }),
    ...(desk && { bellOf: (name) => desk.bellOf(name).catch(() => undefined) }),
  }
}

/** What the desk may have taken for this hook without an answer is unread again. It takes no more of it by now. */
async function takeBack(context: HookContext): Promise<void> {
  const note = new HandoverNote(context)
  if (!note.isLeft) return
  // What was decided is written before anybody else has the right to append.
  await context.space.core?.whileStill(() => {})
  await note.takeBack()
}

/** What opens a space is loaded only where that is due. */
async function openPlace(place: Place, agent: string | undefined): Promise<OpenedSpace> {
  const { openDisk, openRemote } = await import('../../space/open.ts')
  if (place.kind === 'directory') return openDisk({ dir: place.dir })
  return openRemote({
    url: place.url,
    token: tokenFor(place, agent, process.env),
    retryForMs: hubPatienceMs,
  })
}

/** Giving up is safe at any point: mail that is marked and not printed is shown again (handover-note.ts). */
function startLimit(dir: string, hook: string, { moment }: HookEvent): NodeJS.Timeout | undefined {
  if (moment === 'wait') return undefined
  const giveUp = () => {
    log(dir, hook, 'took too long; nothing was said')
    process.exit(0)
  }
  return setTimeout(giveUp, moment === 'end' ? endLimitMs : limitMs)
}

async function wait(context: HookContext, dialect: Dialect, event: HookEvent): Promise<number> {
  const { waitForMail } = await import('./wait.ts')
  const { wake, format } = dialect
  if (wake === 'exit') {
    const showText = (text: string) => {
      noteWork(context, { moment: 'wake' })
      print(text, 2)
    }
    const show = () => new HandoverNote(context).showMail('wake', showText)
    return (await waitForMail(context, show)) ? 2 : 0
  }
  const session = { id: event.sessionId ?? '', pid: context.process.pid }
  await waitForMail(context, async (messages) => {
    const prompt = newMailNotice(messages)
    await (typeof wake === 'function' ? wake(session, prompt) : print(format('', { prompt })))
    await context.mailbox.notified(messages.map(({ id }) => id))
    return true
  })
  return 0
}

async function startWaiting(args: readonly string[], { sessionId }: HookEvent): Promise<void> {
  const { spawn } = await import('node:child_process')
  const child = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  await new Promise<void>((resolve) => child.stdin.end(JSON.stringify({ session_id: sessionId }), resolve))
  child.unref()
}

/** The client's JSON, unless `hook.sh` has read it already. A terminal is not read: we would wait for someone to type. */
function readInput(): HookInput {
  const text = process.env['MAILBOX_HOOK_INPUT'] ?? (fstatSync(0).isCharacterDevice() ? '' : readAll())
  const input = parsed(text.trim() || '{}')
  return input !== null && typeof input === 'object' ? (input as HookInput) : {}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MailboxError('invalid', `the input of the hook is not JSON: ${(cause as Error).message}`, {
      cause,
      hint: 'see the hooks of the client: it should pass the event as JSON on standard input',
    })
  }
}

function readAll(): string {
  const chunks: Buffer[] = []
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536)
    const count = retrying(() => readSync(0, chunk))
    if (count === 0) return Buffer.concat(chunks).toString('utf8')
    chunks.push(chunk.subarray(0, count))
  }
}

/** Writes everything before we exit: a stream would leave it to the event loop. */
function print(text: string, fd = 1): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += retrying(() => writeSync(fd, bytes, at))
}

/** The pipes of some clients do not block, so we do. */
function retrying(act: () => number): number {
  for (;;) {
    try {
      return act()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      sleepSync(1)
    }
  }
}
