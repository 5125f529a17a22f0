import { isObject } from '../../base/objects.ts'
import { monotonicMs } from '../../base/timers.ts'
import type { SeatInput } from '../../command/seat.ts'
import type { View } from '../../conversation/view.ts'
import { type Ask, type Caller, GoDirect } from '../../desk/wire.ts'
import { person, systemAgent } from '../../model/agent.ts'
import type { SendInput } from '../../model/fields.ts'
import { agentByName } from '../../query/roster.ts'
import { unreadableRecords } from '../../query/unreadable.ts'
import { clientAgents } from '../acting.ts'
import type { SpaceCore } from '../core.ts'
import type { Checked, Mailbox } from '../mailbox/api.ts'
import type { Holder } from '../mailbox/looking.ts'
import { LocalMailbox } from '../mailbox/mailbox.ts'
import { findSent, sendDirectly } from '../mailbox/sending.ts'
import { agents, joinAs } from '../roster.ts'
import { type SendingVerb, sendingVerbs } from './mailbox-at-desk.ts'
import { withoutBody } from './send-through.ts'

/** A clock that is further off than this is for the command itself to judge. */
const clockOffMs = 3_600_000

/** What the desk does for others. Whatever it throws besides a refusal sends them the direct way. */
export async function handle(core: SpaceCore, ask: Ask, now = monotonicMs): Promise<unknown> {
  const answer = await answerTo(core, ask, now)
  // Those who ask are to be told how old the answer is.
  if (core.journal.cutOff !== undefined) throw new GoDirect('the database does not answer')
  return answer
}

async function answerTo(core: SpaceCore, ask: Ask, now: () => number): Promise<unknown> {
  const { verb, by, id, until, args } = ask
  // It is done here every few seconds.
  if (verb === 'due') return null
  if (by === undefined) throw new GoDirect('nobody asks')
  const mark = core.mark()
  const since = { ...mark, seq: ask.since ?? mark.seq }
  /**
   * Whoever has waited in vain decides by itself, a message with the same id. Only one of the two decisions can come
   * next in the journal, and the other finds what was written: so whichever is late does nothing.
   */
  const inTime: Holder['inTime'] = (view) => {
    if (now() > until || (id !== undefined && isSent(view, id))) throw new GoDirect('late')
  }
  const isSent = (view: View, of: string) =>
    view.directory.recent.has(of) || findSent(core, view, { id: of, since }) !== undefined
  if (verb === 'seat') return takeSeat(core, by, args[0] as SeatInput)
  const name = by.above === undefined ? by.name : await admit(core, by)
  if (name === undefined) throw new GoDirect('nobody acts')
  if (verb === 'who') return name
  if (verb === 'bell') {
    // What other machines write rings none here.
    if (core.journal.isElsewhere) return undefined
    if (core.desk?.bells === undefined) throw new GoDirect('this is not the desk any more')
    return core.desk.bells.of(name)
  }
  if (verb === 'agents') return agents(core)
  const chosen = id === undefined ? undefined : { id }
  if (verb === 'send' && by.above === undefined) {
    // Its mailbox has checked the message already.
    if (chosen === undefined) throw new GoDirect('a send has an id')
    const input = args[0] as SendInput
    return withoutBody(await sendDirectly({ core, name, pid: by.pid, inTime }, input, chosen), input)
  }
  const mailbox = new LocalMailbox(core, name, { pid: by.pid, inTime, chosen })
  if (verb === 'check') return checkNothing(mailbox)
  if (!isHarmless(verb) && !(isSend(verb) && chosen) && !isUndone(core, verb, by))
    throw new GoDirect(`${verb} is not asked here`)
  // A step with a claim that is over makes a new one: whoever took it once more would be refused.
  if (namesClaim(args)) throw new GoDirect('a step with a claim is not asked here')
  return (mailbox[verb] as (...words: readonly unknown[]) => Promise<unknown>).apply(mailbox, [...args])
}

/** What changes nothing, or nothing more when it is asked twice. */
const harmless = [
  'count',
  'unread',
  'touch',
  'owed',
  'awaited',
  'inbox',
  'show',
  'thread',
  'sent',
  'agent',
  'ack',
  'start',
  'done',
  'archive',
] as const

const isHarmless = (verb: string): verb is (typeof harmless)[number] =>
  (harmless as readonly string[]).includes(verb)

/**
 * A hook gives back what it does not know to have taken (clients/hook/handover-note.ts); a command does not. It can be
 * sure that the desk takes no more of it only where nobody else writes while it has the lock of this machine.
 */
const isUndone = ({ journal }: SpaceCore, verb: string, { above }: Caller): verb is 'takeAll' =>
  verb === 'takeAll' && above === undefined && !journal.isElsewhere

const namesClaim = ([, options]: readonly unknown[]): boolean =>
  isObject(options) && options['claimNumber'] !== undefined

const isSend = (verb: string): verb is SendingVerb => (sendingVerbs as readonly string[]).includes(verb)

/** To show mail is to mark it, and an answer can get lost: only that there is none is said here. */
async function checkNothing(mailbox: Mailbox): Promise<Checked> {
  await mailbox.touch()
  const remaining = await mailbox.count()
  if (remaining.unread > 0) throw new GoDirect('there is mail')
  return { messages: [], remaining, next: null }
}

/** Whether nothing is encrypted: a command reads with the keys of its own agent, and the desk may have others. */
const isPlain = async (core: SpaceCore): Promise<boolean> =>
  !core.vault.isOn &&
  core.query(({ index }) => index.sql('SELECT 1 FROM message WHERE sealed > 0 LIMIT 1').get() === undefined)

/** The agent of a client's process, which may join by that. Asked twice, it is the same one. */
async function takeSeat(core: SpaceCore, by: Caller, seat: SeatInput): Promise<string> {
  if (!isRight(core, by) || !(await isPlain(core))) throw new GoDirect('this is for the hook itself')
  return joinAs(core, seat)
}

/** Whether the clock of whoever asks and ours agree. */
const isRight = (core: SpaceCore, by: Caller): boolean =>
  Math.abs((by.at ?? 0) - core.now()) < clockOffMs && !core.endsNothing

/** Who acts in a command, by the same rules as in acting.ts. What is refused, asked or warned of is up to the command. */
async function admit(core: SpaceCore, by: Caller): Promise<string> {
  const own = await clientAgents(core, by.above)
  const name = by.name ?? own[0] ?? person
  // What follows is decided on the agents as they are now, as in a process that has just opened the space.
  const isKnown = await core.query((source) => core.viewOf(source) && agentByName(source, name) !== undefined)
  const mayAct = isKnown && name !== systemAgent && (own.length === 0 || own.includes(name))
  const isWhole = core.settings['journal.mirror'] === '' && (await core.query(unreadableRecords)).length === 0
  if (mayAct && isRight(core, by) && isWhole && core.damaged.size === 0 && (await isPlain(core))) return name
  throw new GoDirect('the command has something to say')
}
