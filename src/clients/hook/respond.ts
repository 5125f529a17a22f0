import { brief, goOnRequest, hasWord, isWorthATurn, type Moment, recall } from '../../agent/briefing.ts'
import { reportWaiting } from '../../agent/waiting.ts'
import type { ProcessIdentity } from '../../base/process.ts'
import type { Agent } from '../../model/agent.ts'
import type { Mailbox } from '../../space/mailbox/api.ts'
import type { DiskSpace } from '../../space/space.ts'
import type { HookEvent, HookReply } from './dialect.ts'
import { HandoverNote } from './handover-note.ts'
import { readHookState, removeHookState, updateHookState } from './hook-state.ts'
import { newMailNotice } from './notice.ts'
import { putStamp, removeStamp, sweepStamps } from './stamp.ts'

/** For whom a hook runs: the space, the agent, and the process of its client. */
export interface HookContext {
  space: DiskSpace
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
  const { space, mailbox } = context
  await new HandoverNote(space.dir, mailbox).recover()
  switch (event.moment) {
    case 'start':
      sweepStamps(space.dir)
      updateHookState(space.dir, mailbox.name, { turns: 0, recall: false })
      return void (await showMail(context, 'start', (text) => print({ context: text })))
    case 'prompt':
      return respondToPrompt(context, print)
    case 'wake':
      return void (await showMail(context, 'wake', (text) => print({ context: text })))
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
}

/**
 * Takes the mail for a moment and prints it. If it cannot be printed, it becomes unread again. Returns true when
 * there was nothing to say, and no other hook is about to say something either.
 */
async function showMail(
  { space, mailbox }: HookContext,
  moment: Moment,
  print: (text: string) => void,
): Promise<boolean> {
  const note = new HandoverNote(space.dir, mailbox)
  // A reminder of what is open is useful to an agent at work, but not worth a turn of its own.
  const mayRecall = moment === 'prompt' || moment === 'tool'
  const wantsRecall = mayRecall && readHookState(space.dir, mailbox.name).recall
  const { text, ids } = await brief(mailbox, moment, {
    recall: wantsRecall,
    onTake: (some) => note.write(some),
  })
  note.write(ids)
  if (text !== '') {
    await note.handOver(() => print(text))
    if (wantsRecall) updateHookState(space.dir, mailbox.name, { recall: false })
  }
  return text === '' && !note.isUnderWay
}

async function respondToPrompt(context: HookContext, print: Print): Promise<void> {
  const { space, mailbox } = context
  const { works } = readHookState(space.dir, mailbox.name)
  updateHookState(space.dir, mailbox.name, { turns: 0, works: works + 1 })
  await showMail(context, 'prompt', (text) => print({ context: text }))
}

async function respondToTool(context: HookContext, event: HookEvent, print: Print): Promise<void> {
  const { space, client, process } = context
  const seq = await space.lastSeq()
  const isSilent = event.fromSubagent
    ? await hasNothingToShow(context)
    : await showMail(context, 'tool', (text) => print({ context: text }))
  if (isSilent && (await isOnlySession(context))) await putStamp(space, client, process, seq)
}

/** Whether there is nothing to show after a tool call. Takes nothing. */
async function hasNothingToShow({ space, mailbox }: HookContext): Promise<boolean> {
  if (readHookState(space.dir, mailbox.name).recall || new HandoverNote(space.dir, mailbox).isUnderWay)
    return false
  return !(await hasWord(mailbox, 'tool'))
}

/** A stamp is for a process. Some clients run several sessions in one, and it must be true of all of them. */
async function isOnlySession({ space, mailbox, process: { pid } }: HookContext): Promise<boolean> {
  const agents = await space.agents()
  return agents.every(
    ({ name, session, state }) =>
      name === mailbox.name || session.pid !== pid || state === 'dead' || state === 'frozen',
  )
}

async function respondToStop(context: HookContext, event: HookEvent, print: Print): Promise<void> {
  const { space, mailbox } = context
  const { turns, works } = readHookState(space.dir, mailbox.name)
  // A steady stream of mail must not keep an agent busy, and costing money, without end. The mail stays unread.
  if (turns >= maxTurns) return
  const recordTurn = () => updateHookState(space.dir, mailbox.name, { turns: turns + 1, works: works + 1 })
  if (!event.announceOnly) {
    await showMail(context, 'stop', (text) => {
      recordTurn()
      print({ continueWith: `${text}\n\n${goOnRequest}` })
    })
    return
  }
  const { messages } = await mailbox.inbox({ unread: true, limit: 200 })
  const waiting = messages.filter((message) => message.state === 'stored' && isWorthATurn(message))
  if (waiting.length === 0) return
  recordTurn()
  print({ prompt: newMailNotice(waiting) })
  await mailbox.notified(waiting.map(({ id }) => id))
}

/** Unless our reply survives the compaction, the agent is reminded afterwards. */
async function respondToCompaction(context: HookContext, event: HookEvent, print: Print): Promise<void> {
  const { space, mailbox, client, process } = context
  if (event.survivesCompaction) {
    const reminder = (await recall(mailbox)).join('\n\n')
    if (reminder !== '') print({ context: reminder })
    return
  }
  removeStamp(space.dir, client, process)
  updateHookState(space.dir, mailbox.name, { recall: true })
}

/** The lead is told of questions that a subagent has left open. */
async function respondToSubagentStop({ space, mailbox }: HookContext, print: Print): Promise<void> {
  const { reported } = readHookState(space.dir, mailbox.name)
  const { ids, notice } = await reportWaiting(mailbox, reported)
  if (ids.length > 0)
    updateHookState(space.dir, mailbox.name, { reported: [...reported, ...ids].slice(-maxReported) })
  if (notice !== '') print({ notice })
}

/** The session may be resumed: the agent's own mail waits for it, and what it took for a role is released. */
async function endSession({ space, mailbox, client, process: own }: HookContext): Promise<void> {
  removeStamp(space.dir, client, own)
  removeHookState(space.dir, mailbox.name)
  const agent = await mailbox.agent()
  // Another process has taken over the name; it is not ours to end.
  if (agent.session.pid !== own.pid || agent.state === 'dead') return
  const { messages } = await mailbox.inbox({ limit: 200 })
  for (const { id, role, state } of messages)
    if (role !== undefined && ['shown', 'acked', 'processing'].includes(state)) await mailbox.release(id)
  await mailbox.leave({ frozen: !(await isDisposable(mailbox, agent)) })
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
