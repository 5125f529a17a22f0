import { goOnRequest, hasWord, type Moment, worthATurn } from '../../agent/briefing.ts'
import { reminder } from '../../agent/recall.ts'
import { reportWaiting } from '../../agent/waiting.ts'
import type { ProcessIdentity } from '../../base/process.ts'
import type { Agent } from '../../model/agent.ts'
import type { OpenedSpace } from '../../space/api.ts'
import type { BellState } from '../../space/desk/bells.ts'
import type { Mailbox } from '../../space/mailbox/api.ts'
import type { DiskSpace } from '../../space/space.ts'
import { newMailNotice } from './arrivals.ts'
import { Delegations, sweepDelegations } from './delegations.ts'
import type { HookEvent, HookReply } from './dialect.ts'
import { HandoverNote } from './handover-note.ts'
import { readHookState, removeHookState, updateHookState } from './hook-state.ts'
import { noteIdle, noteWork, whenKilled } from './life.ts'
import { putStamp, removeStamp, sweepStamps } from './stamp.ts'

/** What a hook asks the space, which is opened, or which its desk answers for. */
export type HookSpace = Pick<OpenedSpace, 'stateDir' | 'now' | 'agents'> &
  Partial<Pick<OpenedSpace, 'lastSeq' | 'endRun'>> & {
    core?: DiskSpace['core']
    /** The bell of an agent; undefined if there is none. */
    bellOf?: (name: string) => Promise<BellState | undefined>
  }

/** For whom a hook runs: the space, the agent, and the process of its client. */
export interface HookContext {
  space: HookSpace
  mailbox: Mailbox
  client: string
  process: ProcessIdentity
}

/** Prints the reply, or throws. */
type Print = (reply: HookReply) => void

/** How often mail keeps an agent from stopping before it needs a new prompt. */
const maxTurns = 5
const maxReported = 100

/** Replies to an event, and records what the next hook has to know. */
export async function respond(context: HookContext, event: HookEvent, print: Print): Promise<void> {
  await new HandoverNote(context).recover()
  if (event.leftToPrompt) return updateHookState(context, { untold: true })
  const isStart = event.moment === 'prompt' && readHookState(context).untold
  const moment = isStart ? 'start' : event.moment
  const killedSince = moment === 'start' ? whenKilled(context) : undefined
  noteWork(context, { moment })
  switch (moment) {
    case 'start':
      sweepStamps(context.space.stateDir)
      sweepDelegations(context.space.stateDir)
      delegationsOf(context).clear()
      updateHookState(context, { turns: 0, untold: false, recall: false })
      break
    case 'prompt':
      delegationsOf(context).clear()
      updateHookState(context, { turns: 0, works: readHookState(context).works + 1 })
      break
    case 'wake':
      break
    case 'tool':
      return respondToTool(context, event, print)
    case 'stop':
      return respondToStop(context, event, print)
    case 'help':
      return respondToSubagentStop(context, print)
    case 'compact':
      return respondToCompaction(context, event, print)
    case 'end':
      return endSession(context)
    default:
      return
  }
  await showMail(context, moment, print, killedSince)
}

/**
 * Adds the mail for a moment to the agent's context. Returns true when there was nothing to say, and no other hook is
 * about to say something either.
 */
async function showMail(
  context: HookContext,
  moment: Moment,
  print: Print,
  killedSince?: number,
): Promise<boolean> {
  const note = new HandoverNote(context)
  // A reminder of what is open is useful to an agent at work, but not worth a turn of its own.
  const recall = (moment === 'prompt' || moment === 'tool') && readHookState(context).recall
  const isShown = await note.showMail(moment, (text) => print({ context: text }), { recall, killedSince })
  if (isShown && recall) updateHookState(context, { recall: false })
  return !isShown && !note.isUnderWay
}

const delegationsOf = ({ space, client, process: owner }: HookContext): Delegations =>
  new Delegations(space.stateDir, client, owner)

async function respondToTool(context: HookContext, event: HookEvent, print: Print): Promise<void> {
  // What comes after this changes the bell; what came before is found below.
  const { space, mailbox } = context
  const since = (await space.bellOf?.(mailbox.name)) ?? (await space.lastSeq?.())
  const delegations = delegationsOf(context)
  if (event.delegation !== undefined) delegations.end(event.delegation)
  const fromSubagent = event.fromSubagent || delegations.isUnderWay
  const isSilent = await (fromSubagent ? hasNothingToShow(context) : showMail(context, 'tool', print))
  if (isSilent && since !== undefined && (await isOnlySession(context))) await putStamp(context, since)
}

/** Whether there is nothing to show after a tool call. Takes nothing. */
async function hasNothingToShow(context: HookContext): Promise<boolean> {
  if (readHookState(context).recall || new HandoverNote(context).isUnderWay) return false
  return !(await hasWord(context.mailbox, 'tool'))
}

/** A stamp is for a process. Some clients run several sessions in one, and it must be true of all of them. */
async function isOnlySession({ space, mailbox, process: { pid } }: HookContext): Promise<boolean> {
  const others = (await space.agents()).filter(({ name }) => name !== mailbox.name)
  return others.every(({ session, state }) => session.pid !== pid || state === 'dead' || state === 'frozen')
}

async function respondToStop(context: HookContext, event: HookEvent, print: Print): Promise<void> {
  const { mailbox } = context
  const { turns, works } = readHookState(context)
  // Only mail makes it go on; without, the turn is over.
  noteIdle(context)
  delegationsOf(context).clear()
  // A steady stream of mail must not keep an agent busy, and costing money, without end. The mail stays unread.
  if (turns >= maxTurns) return
  const turnSince = context.space.now()
  const recordTurn = () => updateHookState(context, { turns: turns + 1, works: works + 1, turnSince })
  if (!event.announceOnly) {
    await new HandoverNote(context).showMail('stop', (text) => {
      recordTurn()
      print({ continueWith: `${text}\n\n${goOnRequest}` })
    })
    return
  }
  const waiting = await worthATurn(mailbox)
  if (waiting.length === 0) return
  recordTurn()
  print({ prompt: newMailNotice(waiting) })
  await mailbox.notified(waiting.map(({ id }) => id))
}

/** Unless our reply survives the compaction, the agent is reminded afterwards. */
async function respondToCompaction(context: HookContext, event: HookEvent, print: Print): Promise<void> {
  if (event.survivesCompaction) {
    const text = await reminder(context.mailbox)
    if (text !== '') print({ context: text })
    return
  }
  removeStamp(context)
  updateHookState(context, { recall: true })
}

/** The lead is told of questions that a subagent has left open. */
async function respondToSubagentStop(context: HookContext, print: Print): Promise<void> {
  const { reported } = readHookState(context)
  const { ids, notice } = await reportWaiting(context.mailbox, reported)
  if (ids.length > 0) updateHookState(context, { reported: [...reported, ...ids].slice(-maxReported) })
  if (notice !== '') print({ notice })
}

/** The session may be resumed: the agent's own mail waits for it, and what it took for a role is released. */
async function endSession(context: HookContext): Promise<void> {
  const { mailbox, process: own } = context
  removeStamp(context)
  removeHookState(context)
  delegationsOf(context).clear()
  const agent = await mailbox.agent()
  // Another process has taken over the name; it is not ours to end.
  if (agent.session.pid !== own.pid || agent.state === 'dead') return
  await context.space.endRun?.(mailbox.name, { frozen: !(await isDisposable(mailbox, agent)) })
}

/** Named by us, with no role, tag or mail: a roster full of such agents that may come back helps nobody. */
async function isDisposable(mailbox: Mailbox, { roles, tags }: Agent): Promise<boolean> {
  if (process.env['MAILBOX_AGENT'] || roles.length > 0 || tags.length > 0) return false
  const [sent, inbox] = await Promise.all([
    mailbox.sent({ limit: 1 }),
    mailbox.inbox({ all: true, limit: 200 }),
  ])
  const hasMail = inbox.next !== null || inbox.messages.some(({ to }) => to.includes(mailbox.name))
  return sent.messages.length === 0 && !hasMail
}
