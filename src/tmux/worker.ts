import { isWorthATurn } from '../agent/briefing.ts'
import { asMailboxError, MailboxError } from '../base/errors.ts'
import { writeFileAtomically } from '../base/files.ts'
import { identifyProcess } from '../base/process.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { type Courier, type Event, idle, type Turn, type WatcherContext, waiting } from './courier.ts'
import { ExecCourier } from './exec-courier.ts'
import { PaneCourier } from './pane-courier.ts'
import { type Heartbeat, newToken, type Registration, Store, type WatchedAgent } from './store.ts'
import type { RosterAgent, WatchedSpace } from './watched.ts'

export interface WorkOptions {
  signal: AbortSignal
  tell: (event: Event) => void
  /** Called once a second while the worker is healthy. */
  beat: () => void
}

const beatMs = 1_000
/** How soon a change shows in the status. */
const newsMs = 150
const sayHereMs = 3_600_000
/** How much mail of one agent is read in a turn. The rest follows when that is delivered. */
const pageSize = 100
/** After this many pages of mail that was announced and not read, new mail waits. */
const mostPages = 20

interface Line {
  agent: string
  courier: Courier
  /** The registration as JSON; when it changes, the courier is replaced. */
  text: string
  unread: InboxMessage[]
  /** Why the agent cannot get mail. */
  absent?: string | undefined
  turn: Turn
  /** When its courier takes its next turn, by this process's own clock. */
  dueMs: number
}

/** One process for all agents: reads their mail when the journal changes, and gives every courier its turns. */
export async function work(space: WatchedSpace, { signal, tell, beat }: WorkOptions): Promise<void> {
  const store = new Store(space.stateDir)
  const bell = space.begin(signal)
  const context: WatcherContext = { space, store, epoch: newToken(), tell }
  const lines = new Map<string, Line>()
  const me = identifyProcess(process.pid)
  let beatAt = Number.NEGATIVE_INFINITY
  let writtenAt = Number.NEGATIVE_INFINITY
  let written = ''
  let lookedAt = Number.NEGATIVE_INFINITY
  try {
    while (!signal.aborted) {
      bell.reset()
      const isBeat = performance.now() - beatAt >= beatMs
      const hasNews = await space.news()
      const isNew = isBeat && updateLines(lines, context)
      // If nothing was written since the last turn, the mail is the same, except for what has expired.
      const isOld = isBeat && performance.now() - lookedAt >= space.lookMs
      if (isNew || isOld) lookedAt = performance.now()
      const due = [...lines.values()].filter(({ agent }) => isNew || isOld || hasNews(agent))
      if (due.length > 0 && !(await lookForMail(due, space))) lookedAt = Number.NEGATIVE_INFINITY
      const now = performance.now()
      await Promise.all([...lines.values()].filter(({ dueMs }) => dueMs <= now).map(takeTurn))
      const agents = [...lines.values()].map(watched)
      const isNews = performance.now() - writtenAt >= newsMs && JSON.stringify(agents) !== written
      if (isBeat || isNews) {
        writtenAt = performance.now()
        written = JSON.stringify(agents)
        const heartbeat: Heartbeat = { worker: me, at: space.now(), agents }
        writeFileAtomically(store.paths.heartbeat, JSON.stringify(heartbeat), { expendable: true })
      }
      if (isBeat) {
        beatAt = performance.now()
        beat()
      }
      const soonestMs = Math.min(...[...lines.values()].map(({ dueMs }) => dueMs - performance.now()))
      await bell.rung(Math.max(0, Math.min(beatMs, soonestMs)))
    }
  } finally {
    bell.close()
  }
}

/** Agents can be attached and detached while we run. Returns whether one was attached. */
function updateLines(lines: Map<string, Line>, context: WatcherContext): boolean {
  let isNew = false
  const registrations = context.store.registrations()
  for (const registration of registrations) {
    const text = JSON.stringify(registration)
    if (lines.get(registration.agent)?.text === text) continue
    const courier = courierFor(context, registration)
    if (courier === undefined) continue
    lines.set(registration.agent, {
      agent: registration.agent,
      courier,
      text,
      unread: [],
      turn: idle,
      dueMs: 0,
    })
    isNew = true
  }
  for (const agent of lines.keys()) if (!registrations.some((one) => one.agent === agent)) lines.delete(agent)
  return isNew
}

function courierFor(context: WatcherContext, registration: Registration): Courier | undefined {
  const { place, exec } = registration
  if (place !== undefined) return new PaneCourier(context, registration, place)
  return exec === undefined ? undefined : new ExecCourier(context, registration, exec)
}

/** Returns whether everybody's mail could be looked at. */
async function lookForMail(lines: readonly Line[], space: WatchedSpace): Promise<boolean> {
  const agents = await space.agentsNamed(lines.map(({ agent }) => agent))
  let isWhole = true
  const look = async (line: Line) => {
    const before = newsOf(line)
    line.unread = []
    try {
      line.absent = await lookFor(line, space, agents.get(line.agent))
    } catch (error) {
      // Its hub is away, or refuses its token. The others have their own.
      if (!(error instanceof MailboxError)) throw error
      line.absent = saidOf(error)
      isWhole = false
    }
    if (newsOf(line) !== before) line.dueMs = 0
  }
  await Promise.all(lines.map(look))
  return isWhole
}

/** Finds the unread mail of an agent, or says why it cannot get any. */
async function lookFor(
  line: Line,
  space: WatchedSpace,
  found: RosterAgent | Error | undefined,
): Promise<string | undefined> {
  const { agent } = line
  const { exec } = line.courier.registration
  if (found === undefined) return `unknown: mailbox join ${agent}`
  if (found instanceof Error) throw found
  const { state, session, lastSeenAt } = found
  // Nobody can see whether an agent is behind a command. It counts as running while its mail is delivered.
  if (exec !== undefined && space.now() - Date.parse(lastSeenAt) > sayHereMs) await space.sayHere(agent)
  if (state === 'frozen') return 'frozen; its mail is waiting'
  line.unread = await mailFor(await space.mailbox(agent), session.id !== undefined)
  return undefined
}

const saidOf = ({ message, hint }: MailboxError): string =>
  hint === undefined ? message : `${message}: ${hint}`

const newsOf = ({ unread, absent }: Line): string =>
  JSON.stringify([absent, unread.map(({ id, state }) => [id, state])])

/** A client that has told us its session has hooks or tools: all that is not worth a turn comes with its prompts. */
async function mailFor(mailbox: Mailbox, hasSession: boolean): Promise<InboxMessage[]> {
  if (!hasSession) return unreadOf(mailbox)
  const { messages, answers } = await mailbox.unread()
  return messages.filter((message) => isWorthATurn(message, answers))
}

/** The most urgent first. Mail that was announced stays unread, and must not hide new mail. */
async function unreadOf(mailbox: Mailbox): Promise<InboxMessage[]> {
  const found: InboxMessage[] = []
  for (let after: string | null | undefined, page = 0; after !== null && page < mostPages; page++) {
    const from = after === undefined ? {} : { after }
    const { messages, next } = await mailbox.inbox({ unread: true, limit: pageSize, ...from })
    found.push(...messages)
    after = messages.every(({ state }) => state === 'notified') ? next : null
  }
  return found
}

/** A problem with one agent does not affect the others. */
async function takeTurn(line: Line): Promise<void> {
  try {
    line.turn = line.absent === undefined ? await line.courier.turn(line.unread) : { doing: line.absent }
  } catch (error) {
    line.turn = waiting(saidOf(asMailboxError(error)))
  }
  line.dueMs = performance.now() + (line.turn.againMs ?? Number.POSITIVE_INFINITY)
}

function watched({ courier, unread, turn }: Line): WatchedAgent {
  const { agent, place, exec } = courier.registration
  return { agent, where: place?.pane ?? exec ?? '', waiting: unread.length, doing: turn.doing }
}
