import { askForHelp, assignTask, escalate, handOff, requestShutdown, requestStatus } from '../mod.ts'
import { person } from '../model/agent.ts'
import type { Player } from './player.ts'
import { holders, type Stage } from './stage.ts'
import type { Ask } from './texts/person.ts'
import type { WorkItem } from './texts/work-item.ts'

/** So much work under way for each worker, and so many questions to the person, are enough. */
const jobsEach = 2
const asksOpen = 4

/** The lead gives out the next piece of work: to somebody by name, or to whoever is free first. */
export async function assign(me: Player, fits?: (item: WorkItem) => boolean): Promise<void> {
  const { stage } = me
  const workers = holders(stage, 'worker')
  if (workers.length === 0 || stage.jobs.size >= workers.length * jobsEach) return
  const item = stage.backlog.draw(fits)
  const taskId = stage.backlog.rounds > 1 ? `${item.id}.${stage.backlog.rounds}` : item.id
  stage.given.set(taskId, item)
  const to = stage.chance.happens(0.35) ? 'role:worker' : leastBusy(stage, workers).name
  await assignTask(me.mailbox, {
    ...{ to, subject: item.title, taskId, body: item.brief },
    priority: stage.chance.happens(0.2) ? 'high' : 'normal',
  })
}

function leastBusy(stage: Stage, workers: readonly Player[]): Player {
  const load = (player: Player) =>
    [...stage.jobs.values()].filter(({ author }) => author === player.name).length
  return workers.reduce((best, player) => (load(player) < load(best) ? player : best))
}

/** Somebody needs the person. What the person says decides how it goes on. */
export async function askThePerson(stage: Stage, fits: (ask: Ask) => boolean = () => true): Promise<void> {
  if (stage.openAsks.size >= asksOpen) return
  const ask = stage.asks.draw((one) => fits(one) && holders(stage, one.role).length > 0)
  const [me] = holders(stage, ask.role)
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
  stage.openAsks.add(sent.id)
  me.waiting.set(sent.id, async (answer) => {
    const { to, subject: news, body: told } = turnOf(ask, answer.body)
    await me.mailbox.reply(answer.id, { type: 'text', body: stage.lines.thanks.draw() })
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

/** Something breaks: the one on call tells those concerned, takes it to the lead, and ends it. */
export async function incident(me: Player): Promise<void> {
  const { stage } = me
  const drawn = stage.incidents.draw()
  const { subject, alert, concern, reason, end } = drawn
  const told = await me.mailbox.send({
    ...{ to: concern, type: 'notification', subject, body: alert, priority: 'urgent', tags: [concern] },
  })
  stage.alarms.set(told.id, drawn)
  me.later([6, 14], async () => {
    const sent = await escalate(me.mailbox, { reason, about: told.id, subject: `Escalation: ${subject}` })
    me.waiting.set(sent.id, async () => {
      await me.work(`Ending: ${subject}`, [10, 25], undefined, async () => {
        await me.mailbox.send({
          to: concern,
          type: 'notification',
          subject: `Over: ${subject}`,
          body: end,
          replyTo: told.id,
          tags: [concern],
        })
      })
    })
  })
}

/** The architect says something to all who work on a matter. */
export async function decision(me: Player): Promise<void> {
  const { to, subject, body } = me.stage.lines.decisions.draw()
  await me.mailbox.send({
    to,
    subject,
    body,
    type: 'notification',
    tags: [to],
    requiresAck: to.startsWith('concern:'),
  })
}

export async function chatter(me: Player): Promise<void> {
  const { stage } = me
  const others = [...stage.players.values()].filter((player) => player.here && player !== me)
  if (others.length === 0) return
  const tag = me.part.tags[0]
  const to = tag !== undefined && stage.chance.happens(0.4) ? tag : stage.chance.pick(others).name
  await me.mailbox.send({ to, ...stage.lines.chatter.draw(), priority: 'low', tags: to === tag ? [tag] : [] })
}

export async function askForStatus(me: Player): Promise<void> {
  const busy = holders(me.stage, 'worker').filter(({ job }) => job !== undefined)
  if (busy.length > 0) await requestStatus(me.mailbox, me.stage.chance.pick(busy).name)
}

/** The lead sends somebody home; who is in the middle of something finishes it first. */
export async function sendHome(me: Player, who: Player, reason: string): Promise<void> {
  if (who.here && who !== me) await requestShutdown(me.mailbox, who.name, { reason, withinMs: 10 * 60_000 })
}

/** A guest hands over and leaves for good. What was written to it meanwhile cannot arrive any more. */
export async function farewell(guest: Player, heir: Player): Promise<void> {
  await handOff(guest.mailbox, {
    ...{ to: heir.name, subject: 'My notes on the flaky checks', priority: 'normal' },
    workCompleted: 'Eleven of fourteen flaky checks are quiet now.',
    currentState: 'The last three all depend on the time of day.',
    nextSteps: ['Give the three a clock of their own', 'Switch the quarantine off'],
    filesModified: ['test/clock.ts', 'ci/quarantine.json'],
  })
  await heir.mailbox.send({
    to: guest.name,
    subject: 'One question before you go',
    body: 'Where is the list of the three that are left?',
  })
  await guest.mailbox.leave()
  guest.goAway()
}
