// An agent without a model behind it: a process that lives by a script. Examples and tests share it.
//
//   node mock-agent.mjs SPACE NAME BEHAVIOUR     SPACE is a directory or a hub; BEHAVIOUR is JSON, or - for a first line of standard input
//
// {
//   "roles": [], "tags": [], "settings": {},    how it joins, and settings of the space for this process
//   "begin": [ACTION],                          what it does by itself before it takes mail
//   "on": { TYPE: [ACTION] },                   what it does with mail of a type; "default" for all others
//   "help": "text",                             with one of these two it is a lead: what it answers to a
//   "verdicts": [{ "approved": false, "feedback": "…" }, …]   help_request, and its verdicts on plans in turn
// }
//
// An ACTION has one of these keys; `about` is the message at hand:
//   { "sleepMs": N | [FROM, TO] }   works for so long, unless it is told to stop
//   { "holdMs": N }                 works for so long whatever it is told
//   { "throw": "reason" }           fails          { "note": "text" }     is done with this note
//   { "ack": true }                 acknowledges   { "reply": {…} }       answers
//   { "done": true }                finishes the message itself, before its handler is through
//   { "send": {…} }                 writes         { "status": {…} }      reports on the task at hand
//   { "ask": {…} }                  asks for help  { "waitMs": N }        waits for the answer to its last question or plan
//   { "plan": {…} }                 submits a plan; "revise": true in it: a new version of the last one
//   { "check": true }               prints what it sees first
//   { "read": true }                waits for a message, prints what it sees, and does nothing about it
//   { "chance": 0.2, "do": [ACTION] }
//
// It prints one JSON object a line: ready, every event of its loop, and how it ended. A line `stop` on its
// standard input ends it as a signal would.
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { askForHelp, runAgent, runLead, submitPlan, updateStatus } from '../dist/mod.js'
import { openAt } from './stage.mjs'

const [place, name, given = '{}'] = process.argv.slice(2)
const input = createInterface({ input: process.stdin })
const firstLine = () => new Promise((resolve) => input.once('line', resolve))
const behaviour = JSON.parse(given === '-' ? await firstLine() : given)

const stop = new AbortController()
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
// Whoever started it may be gone; then nobody reads what it says, and it goes on.
process.stdout.on('error', () => {})
input.on('line', (line) => line === 'stop' && stop.abort())

const space = await openAt(place, behaviour.settings ?? {})
const { roles, tags } = behaviour
const agent = await space.join(name, {
  session: { pid: process.pid, client: 'mock' },
  ...(roles === undefined ? {} : { roles }),
  ...(tags === undefined ? {} : { tags }),
})
const mailbox = await space.mailbox(name)
const last = { asked: undefined, plan: undefined }

const actions = {
  sleepMs: async (ms, _, signal) => {
    const [from, to] = [ms].flat()
    const length = to === undefined ? from : from + Math.random() * (to - from)
    await sleep(length, undefined, { signal }).catch(() => {
      throw new Error('told to stop')
    })
  },
  holdMs: (ms) => sleep(ms),
  throw: (reason) => {
    throw new Error(reason)
  },
  note: (text) => text,
  ack: async (_, about) => void (await mailbox.ack(about.id)),
  done: async (_, about) => void (await mailbox.done(about.id)),
  reply: async (answer, about) => void (await mailbox.reply(about.id, answer)),
  send: async (message) => void (await mailbox.send(message)),
  status: async (report, about) =>
    void (await updateStatus(mailbox, {
      ...(about?.payload?.taskId === undefined ? {} : { taskId: about.payload.taskId }),
      ...report,
    })),
  ask: async (question) => {
    last.asked = await askForHelp(mailbox, question)
    say({ event: 'asked', id: last.asked.id })
  },
  waitMs: async (timeoutMs, _, signal) => {
    const answer = await mailbox.wait({ replyTo: last.asked.id, timeoutMs, signal })
    say({ event: 'answered', subject: answer?.subject, body: answer?.body, payload: answer?.payload })
    if (answer !== null) await mailbox.done(answer.id)
  },
  plan: async ({ revise, ...plan }) => {
    last.plan = await submitPlan(mailbox, { ...plan, ...(revise ? { revises: last.plan?.id } : {}) })
    last.asked = last.plan
    say({ event: 'submitted', id: last.plan.id, subject: last.plan.subject })
  },
  check: async () => {
    const { messages } = await mailbox.check()
    say({ event: 'saw', subjects: messages.map(({ subject }) => subject) })
  },
  read: async () => {
    const { subject } = await mailbox.wait()
    say({ event: 'saw', subjects: [subject] })
  },
}

/** Does one thing after the other; the last note is what it has to say about it. */
async function act(script, about, signal) {
  let note
  for (const { chance = 1, do: rest, ...action } of script) {
    if (Math.random() >= chance) continue
    if (rest !== undefined) note = (await act(rest, about, signal)) ?? note
    for (const [verb, value] of Object.entries(action))
      note = (await actions[verb](value, about, signal)) ?? note
  }
  return note
}

const handlers = Object.fromEntries(
  Object.entries(behaviour.on ?? {}).map(([type, script]) => [
    type,
    (message, { gathered, signal }) => {
      say({ event: 'handling', subject: message.subject, gathered: gathered.map(({ subject }) => subject) })
      return act(script, message, signal)
    },
  ]),
)
const verdicts = [...(behaviour.verdicts ?? [])]
if (behaviour.help !== undefined) handlers.help_request = () => behaviour.help
if (verdicts.length > 0)
  handlers.plan_submission = () => (verdicts.length > 1 ? verdicts.shift() : verdicts[0])
const isLead = behaviour.help !== undefined || verdicts.length > 0

say({ event: 'ready', generation: agent.session.generation })
await act(behaviour.begin ?? [], undefined, stop.signal)
const result = await (isLead ? runLead : runAgent)(mailbox, handlers, {
  signal: stop.signal,
  onEvent: ({ event, message, reason }) =>
    say({ event, type: message.type, subject: message.subject, id: message.id, reason }),
})
say({ event: 'ended', ...result })
await space.close()
input.close()
process.stdin.destroy()
