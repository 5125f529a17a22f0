import {
  brief,
  goOnRequest,
  hasWord,
  invitation,
  isWorthATurn,
  type Moment,
  recall,
} from '../../agent/briefing.ts'
import { reportWaiting } from '../../agent/waiting.ts'
import type { ProcessIdentity } from '../../base/process.ts'
import type { Agent } from '../../model/agent.ts'
import type { Mailbox } from '../../space/mailbox.ts'
import type { Space } from '../../space/space.ts'
import type { Call, Said } from './dialect.ts'
import { Handing } from './handover-note.ts'
import { forget, recollect, remember } from './hook-state.ts'
import { putStamp, removeStamp, sweepStamps } from './stamp.ts'

/** Where a hook answers: in which space, for which agent, in which process of which client. */
export interface Desk {
  space: Space
  mailbox: Mailbox
  client: string
  process: ProcessIdentity
}

/** Prints what is said, or throws. */
type Print = (said: Said) => void

/** How often mail keeps an agent from stopping before somebody has to prompt it again. */
const turnsAtMost = 5
/** How many reports to remember as made. */
const reportsKept = 100

/** Says what is to be said at a moment, once, and remembers what the next hook has to know. */
export async function answer(desk: Desk, call: Call, print: Print): Promise<void> {
  const { space, mailbox } = desk
  await new Handing(space.dir, mailbox).recover()
  switch (call.moment) {
    case 'start':
      sweepStamps(space.dir)
      remember(space.dir, mailbox.name, { turns: 0, recall: false })
      return void (await tell(desk, 'start', (context) => print({ context })))
    case 'prompt':
      return answerPrompt(desk, print)
    case 'wake':
      return void (await tell(desk, 'wake', (context) => print({ context })))
    case 'tool':
      return answerTool(desk, call, print)
    case 'stop':
      return answerStop(desk, call, print)
    case 'help':
      return answerHelp(desk, print)
    case 'compact':
      return answerCompact(desk, call, print)
    case 'end':
      return end(desk)
    default:
      return
  }
}

/**
 * Takes the mail for a moment and prints it. What could not be printed is unread again. True when nothing was
 * to be said: no mail was wanted, and nobody is just about to say some.
 */
async function tell(
  { space, mailbox }: Desk,
  moment: Moment,
  print: (text: string) => void,
): Promise<boolean> {
  const handing = new Handing(space.dir, mailbox)
  // What is open is worth a word to an agent at work, but no turn of its own.
  const mayRecall = moment === 'prompt' || moment === 'tool'
  const wantsRecall = mayRecall && recollect(space.dir, mailbox.name).recall
  const { text, ids } = await brief(mailbox, moment, {
    recall: wantsRecall,
    onTake: (some) => handing.note(some),
  })
  handing.note(ids)
  if (text !== '') {
    try {
      print(text)
    } catch (error) {
      await handing.undo()
      throw error
    }
    handing.done()
    if (wantsRecall) remember(space.dir, mailbox.name, { recall: false })
  }
  return text === '' && !handing.isUnderWay
}

async function answerPrompt(desk: Desk, print: Print): Promise<void> {
  const { space, mailbox } = desk
  const { works } = recollect(space.dir, mailbox.name)
  remember(space.dir, mailbox.name, { turns: 0, works: works + 1 })
  await tell(desk, 'prompt', (context) => print({ context }))
}

async function answerTool(desk: Desk, { isAside = false }: Call, print: Print): Promise<void> {
  const { space, mailbox, client, process } = desk
  const seq = await space.end()
  const isSilent = isAside ? await isQuiet(desk) : await tell(desk, 'tool', (context) => print({ context }))
  if (isSilent && (await isAlone(space, mailbox, process))) await putStamp(space, client, process, seq)
}

/** Whether there is nothing to tell the agent after a tool. Takes nothing. */
async function isQuiet({ space, mailbox }: Desk): Promise<boolean> {
  if (recollect(space.dir, mailbox.name).recall || new Handing(space.dir, mailbox).isUnderWay) return false
  return !(await hasWord(mailbox, 'tool'))
}

/** A stamp is for a process, and some clients have several sessions in one: it must be true of all that run. */
async function isAlone(space: Space, mailbox: Mailbox, { pid }: ProcessIdentity): Promise<boolean> {
  const agents = await space.agents()
  return agents.every(
    ({ name, session, state }) =>
      name === mailbox.name || session.pid !== pid || state === 'dead' || state === 'frozen',
  )
}

async function answerStop(desk: Desk, { invites = false }: Call, print: Print): Promise<void> {
  const { space, mailbox } = desk
  const { turns, works } = recollect(space.dir, mailbox.name)
  // Mail that keeps coming must not keep an agent, and whoever pays for it, busy for ever. It stays unread.
  if (turns >= turnsAtMost) return
  const goesOn = () => remember(space.dir, mailbox.name, { turns: turns + 1, works: works + 1 })
  if (!invites) {
    await tell(desk, 'stop', (text) => {
      goesOn()
      print({ goOn: `${text}\n\n${goOnRequest}` })
    })
    return
  }
  const { messages } = await mailbox.inbox({ unread: true, limit: 200 })
  const waiting = messages.filter((message) => message.state === 'stored' && isWorthATurn(message))
  if (waiting.length === 0) return
  goesOn()
  print({ prompt: invitation(waiting) })
  await mailbox.notified(waiting.map(({ id }) => id))
}

/** What is said to a context that is about to go is lost, unless the client keeps it; else the next one is told. */
async function answerCompact(desk: Desk, { isKept = false }: Call, print: Print): Promise<void> {
  const { space, mailbox, client, process } = desk
  const context = isKept ? (await recall(mailbox)).join('\n\n') : ''
  if (context !== '') print({ context })
  if (isKept) return
  removeStamp(space.dir, client, process)
  remember(space.dir, mailbox.name, { recall: true })
}

/** Whoever coordinates hears of questions that a subagent left open. */
async function answerHelp({ space, mailbox }: Desk, print: Print): Promise<void> {
  const { reported } = recollect(space.dir, mailbox.name)
  const { ids, notice } = await reportWaiting(mailbox, reported)
  if (ids.length > 0)
    remember(space.dir, mailbox.name, { reported: [...reported, ...ids].slice(-reportsKept) })
  if (notice !== '') print({ notice })
}

/** The session is over, and may be resumed: the agent's own mail waits, and what it took for a role goes back. */
async function end({ space, mailbox, client, process: own }: Desk): Promise<void> {
  removeStamp(space.dir, client, own)
  forget(space.dir, mailbox.name)
  const agent = await mailbox.agent()
  // A name that was given to several runs is not this one's to take away.
  if (agent.session.pid !== own.pid || agent.state === 'dead') return
  const { messages } = await mailbox.inbox({ limit: 200 })
  for (const { id, role, state: step } of messages)
    if (role !== undefined && ['shown', 'acked', 'processing'].includes(step)) await mailbox.release(id)
  await mailbox.leave({ frozen: !(await isStranger(mailbox, agent)) })
}

/** Named by us, without a role or a letter to or from it: a roster full of those who may be back helps nobody. */
async function isStranger(mailbox: Mailbox, { roles, tags }: Agent): Promise<boolean> {
  if (process.env['MAILBOX_AGENT'] || roles.length > 0 || tags.length > 0) return false
  const [sent, inbox] = await Promise.all([
    mailbox.sent({ limit: 1 }),
    mailbox.inbox({ all: true, limit: 200 }),
  ])
  const isWrittenTo = inbox.next !== null || inbox.messages.some(({ to }) => to.includes(mailbox.name))
  return sent.messages.length === 0 && !isWrittenTo
}
