import { askForHelp, assignTask, escalate, handOff, requestShutdown, requestStatus } from '../mod.ts'
import { person } from '../model/agent.ts'
import type { MockAgent } from './mock-agent.ts'
import { type DemoState, holders } from './state.ts'
import type { Ask } from './texts/person.ts'
import type { WorkItem } from './texts/work-item.ts'

/** Limits: open jobs per worker, and open questions to the person. */
const jobsEach = 2
const asksOpen = 4

/** The lead assigns the next task, to a worker by name or to the role. */
export async function assign(me: MockAgent, fits?: (item: WorkItem) => boolean): Promise<void> {
  const { demo } = me
  const workers = holders(demo, 'worker')
  if (workers.length === 0 || demo.jobs.size >= workers.length * jobsEach) return
  const item = demo.backlog.draw(fits)
  const taskId = demo.backlog.rounds > 1 ? `${item.id}.${demo.backlog.rounds}` : item.id
  demo.given.set(taskId, item)
  const to = demo.random.happens(0.35) ? 'role:worker' : leastBusy(demo, workers).name
  await assignTask(me.mailbox, {
    ...{ to, subject: item.title, taskId, body: item.brief },
    priority: demo.random.happens(0.2) ? 'high' : 'normal',
  })
}

function leastBusy(demo: DemoState, workers: readonly MockAgent[]): MockAgent {
  const load = (agent: MockAgent) =>
    [...demo.jobs.values()].filter(({ author }) => author === agent.name).length
  return workers.reduce((best, agent) => (load(agent) < load(best) ? agent : best))
}

/** An agent asks the person something; the answer decides what happens next. */
export async function askThePerson(demo: DemoState, fits: (ask: Ask) => boolean = () => true): Promise<void> {
  if (demo.openAsks.size >= asksOpen) return
  const ask = demo.asks.draw((one) => fits(one) && holders(demo, one.role).length > 0)
  const [me] = holders(demo, ask.role)
  if (me === undefined) return
  const { kind, subject, body } = ask
  const sent =
    kind === 'help'
      ? await askForHelp(me.mailbox, { to: person, subject, body })
      : kind === 'escalation'
        ? await escalate(me.mailbox, { to: person, subject, reason: subject, body })
        : await me.mailbox.send({
            to: person,
            type: 'request',
            subject,
            body,
            awaitingResponse: true,
            priority: 'high',
          })
  demo.openAsks.add(sent.id)
  me.waiting.set(sent.id, async (answer) => {
    const { to, subject: news, body: told } = turnOf(ask, answer.body)
    await me.mailbox.reply(answer.id, { type: 'text', body: demo.lines.thanks.draw() })
    const type = to === 'all' ? 'broadcast' : 'notification'
    await me.mailbox.send({
      to,
      type,
      subject: news,
      body: told,
      tags: to.startsWith('role:') || to === 'all' ? [] : [to],
    })
  })
}

const turnOf = ({ turns, otherwise }: Ask, answer: string) =>
  turns.find(({ words }) => words.test(answer)) ?? otherwise

/** Something breaks: the on-call agent alerts the team, escalates to the lead and resolves it. */
export async function incident(me: MockAgent): Promise<void> {
  const { demo } = me
  const drawn = demo.incidents.draw()
  const { subject, alert, concern, reason, end } = drawn
  const told = await me.mailbox.send({
    ...{ to: concern, type: 'notification', subject, body: alert, priority: 'urgent', tags: [concern] },
  })
  demo.alarms.set(told.id, drawn)
  me.later([6, 14], async () => {
    const sent = await escalate(me.mailbox, { reason, about: told.id, subject: `Escalation: ${subject}` })
    me.waiting.set(sent.id, async () => {
      await me.work(`Resolving: ${subject}`, [10, 25], undefined, async () => {
        await me.mailbox.send({
          to: concern,
          type: 'notification',
          subject: `Resolved: ${subject}`,
          body: end,
          replyTo: told.id,
          tags: [concern],
        })
      })
    })
  })
}

/** The architect announces a decision to a project or concern. */
export async function decision(me: MockAgent): Promise<void> {
  const { to, subject, body } = me.demo.lines.decisions.draw()
  await me.mailbox.send({
    to,
    subject,
    body,
    type: 'notification',
    tags: [to],
    requiresAck: to.startsWith('concern:'),
  })
}

export async function chatter(me: MockAgent): Promise<void> {
  const { demo } = me
  const others = [...demo.agents.values()].filter((agent) => agent.here && agent !== me)
  if (others.length === 0) return
  const tag = me.member.tags[0]
  const to = tag !== undefined && demo.random.happens(0.4) ? tag : demo.random.pick(others).name
  await me.mailbox.send({ to, ...demo.lines.chatter.draw(), priority: 'low', tags: to === tag ? [tag] : [] })
}

export async function askForStatus(me: MockAgent): Promise<void> {
  const busy = holders(me.demo, 'worker').filter(({ job }) => job !== undefined)
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
