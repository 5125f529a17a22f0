import { askForHelp, assignTask, escalate, handOff, requestShutdown, requestStatus } from '../mod.ts'
import { person } from '../model/agent.ts'
import { announce } from './common.ts'
import type { Demo } from './demo.ts'
import type { MockAgent } from './mock-agent.ts'
import type { Ask } from './texts/person.ts'
import type { WorkItem } from './texts/work-item.ts'

/** Limits: open jobs per worker, and open questions to the person. */
const jobsEach = 2
const asksOpen = 4

/** The lead assigns the next task, to a worker by name or to the role. */
export async function assign(me: MockAgent, fits?: (item: WorkItem) => boolean): Promise<void> {
  const { jobs, assigned, random, texts, holders } = me.demo
  const workers = holders('worker')
  if (jobs.size >= workers.length * jobsEach) return
  const item = texts.backlog.draw(fits)
  const { rounds } = texts.backlog
  const taskId = rounds > 1 ? `${item.id}.${rounds}` : item.id
  assigned.set(taskId, { ...item, id: taskId })
  const load = ({ name }: MockAgent) => [...jobs.values()].filter(({ author }) => author === name).length
  const leastBusy = () => workers.reduce((best, agent) => (load(agent) < load(best) ? agent : best))
  const to = random.happens(0.35) ? 'role:worker' : leastBusy().name
  const priority = random.happens(0.2) ? 'high' : 'normal'
  await assignTask(me.mailbox, { to, subject: item.title, taskId, body: item.brief, priority })
}

/** An agent asks the person something; the answer decides what happens next. */
export async function askThePerson(demo: Demo, fits: (ask: Ask) => boolean = () => true): Promise<void> {
  if (demo.openAsks.size >= asksOpen) return
  const ask = demo.texts.asks.draw((one) => fits(one) && demo.holders(one.role).length > 0)
  const [me] = demo.holders(ask.role)
  if (me === undefined) return
  const { id } = await sendAsk(me, ask)
  demo.openAsks.add(id)
  me.waiting.set(id, async (answer) => {
    demo.openAsks.delete(id)
    const { words: _, ...news } = ask.turns.find(({ words }) => words?.test(answer.body) ?? true)!
    await me.mailbox.reply(answer.id, { type: 'text', body: demo.texts.thanks.draw() })
    await announce(me, { to: ask.to, ...news })
  })
}

function sendAsk({ mailbox }: MockAgent, { kind, subject, body }: Ask) {
  const message = { to: person, subject, body }
  if (kind === 'help') return askForHelp(mailbox, message)
  if (kind === 'escalation') return escalate(mailbox, { ...message, reason: subject })
  return mailbox.send({ ...message, type: 'request', awaitingResponse: true, priority: 'high' })
}

/** Something breaks: the on-call agent alerts the team, escalates to the lead and resolves it. */
export async function incident(me: MockAgent): Promise<void> {
  const { subject, alert, concern: to, reason, end } = me.demo.texts.incidents.draw()
  const { id: about } = await announce(me, { to, subject, body: alert, priority: 'urgent' })
  me.later([6, 14], async () => {
    const sent = await escalate(me.mailbox, { reason, about, subject: `Escalation: ${subject}` })
    me.waiting.set(sent.id, () =>
      me.work(`Resolving: ${subject}`, [10, 25], undefined, () =>
        announce(me, { to, subject: `Resolved: ${subject}`, body: end, replyTo: about }),
      ),
    )
  })
}

/** The architect announces a decision to a project or concern. */
export async function decision(me: MockAgent): Promise<void> {
  const message = me.demo.texts.decisions.draw()
  await announce(me, { ...message, requiresAck: message.to.startsWith('concern:') })
}

export async function chatter(me: MockAgent): Promise<void> {
  const { agents, random, texts } = me.demo
  const others = [...agents.values()].filter((agent) => agent.here && agent !== me)
  if (others.length === 0) return
  const tag = me.member.tags[0]!
  const toTag = random.happens(0.4)
  const to = toTag ? tag : random.pick(others).name
  const [subject, body] = texts.chatter.draw()
  await me.mailbox.send({ to, subject, body, priority: 'low', tags: toTag ? [tag] : [] })
}

export async function askForStatus(me: MockAgent): Promise<void> {
  const busy = me.demo.holders('worker').filter(({ job }) => job !== undefined)
  if (busy.length > 0) await requestStatus(me.mailbox, me.demo.random.pick(busy).name)
}

/** The lead asks an agent to shut down; a busy agent finishes first. */
export async function sendHome(me: MockAgent, who: MockAgent, reason: string): Promise<void> {
  if (who.here && who !== me) await requestShutdown(me.mailbox, who.name, { reason, withinMs: 10 * 60_000 })
}

/** A guest hands over and leaves for good; mail sent to it meanwhile becomes a dead letter. */
export async function farewell(guest: MockAgent, heir: MockAgent): Promise<void> {
  await handOff(guest.mailbox, {
    ...{ to: heir.name, subject: 'My notes on the flaky checks', priority: 'normal' },
    workCompleted: 'Eleven of fourteen flaky checks are stable now.',
    currentState: 'The last three all depend on the time of day.',
    nextSteps: ['Inject a fake clock into those three', 'Remove the quarantine'],
    filesModified: ['test/clock.ts', 'ci/quarantine.json'],
  })
  await heir.mailbox.send({
    to: guest.name,
    subject: 'Quick question before you go',
    body: 'Where can I find the list of the remaining three?',
  })
  await guest.mailbox.leave()
  guest.goAway()
}
