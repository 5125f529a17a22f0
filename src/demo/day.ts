import type { Player } from './player.ts'
import { askThePerson, assign, farewell, incident, sendHome } from './scenes.ts'
import { holders, type Stage } from './stage.ts'
import type { StandIn } from './stand-in.ts'

/** From the last word of the evening until nobody is there, and until they are all back. */
const nightSeconds = 100
const morningSeconds = 20

/** Lives through a day, sleeps, and begins the next one. */
export async function beginDay(stage: Stage, standIn: StandIn): Promise<void> {
  const { schedule, daySeconds } = stage
  stage.isNight = false
  for (const player of stage.players.values()) await player.comeIn()
  const [lead] = holders(stage, 'lead')
  const [oncall] = holders(stage, 'oncall')
  if (lead === undefined || oncall === undefined) return

  at(lead, 4, () => say(lead, 'Good morning', 'standup'))
  // The first pieces of work are of each kind: a plan for the lead, one for the person, a question, a free choice.
  at(lead, 8, () => assign(lead, ({ plan, byPerson }) => plan !== undefined && !byPerson))
  at(lead, 11, () => assign(lead, ({ byPerson }) => byPerson === true))
  at(lead, 14, () => assign(lead, ({ question }) => question !== undefined))
  at(lead, 17, () => assign(lead))
  at(oncall, 45, () => incident(oncall))
  schedule.after(30, () => askThePerson(stage, ({ kind }) => kind === 'help'))
  schedule.after(50, () => repeat(stage, daySeconds))

  at(lead, daySeconds / 2, () => say(lead, 'Half of the day', 'lunch'))
  troubles(stage, standIn, lead)
  schedule.after(daySeconds, () => evening(stage, standIn, lead))
}

const at = (player: Player, seconds: number, work: () => Promise<void>) =>
  player.after([seconds, seconds], work)

async function say(me: Player, subject: string, line: 'standup' | 'lunch' | 'evening'): Promise<void> {
  await me.mailbox.broadcast({ subject, body: me.stage.lines[line].draw() })
}

/** Questions to the person, as long as the day lasts. */
async function repeat(stage: Stage, untilSeconds: number): Promise<void> {
  await askThePerson(stage)
  const pause = stage.chance.between(70, 160)
  if (pause < untilSeconds) stage.schedule.after(pause, () => repeat(stage, untilSeconds - pause))
}

/** What goes wrong or away in the course of a day, and comes back. */
function troubles(stage: Stage, standIn: StandIn, lead: Player): void {
  const { schedule } = stage
  const mortal = stage.players.get(standIn.name)
  if (mortal !== undefined) {
    for (const when of [105, stage.daySeconds * 0.55]) {
      schedule.after(when, () => die(mortal, standIn))
      schedule.after(when + 60, () => comeBack(mortal))
    }
  }
  const [writer] = holders(stage, 'docs')
  if (writer !== undefined)
    at(lead, 130, () =>
      sendHome(lead, writer, 'Your budget for the morning is used up. Back after the break.'),
    )
  const guest = stage.players.get('nils')
  const heir = holders(stage, 'tester').find((player) => player !== guest)
  if (guest !== undefined && heir !== undefined) at(guest, 150, () => farewell(guest, heir))
}

async function die(who: Player, standIn: StandIn): Promise<void> {
  if (!who.here) return
  who.goAway()
  await standIn.kill()
  // The others notice: what it had claimed is free again.
  await who.stage.space.runDue()
}

async function comeBack(who: Player): Promise<void> {
  if (who.here) return
  await who.comeIn()
  await who.mailbox.send({
    to: await who.mailbox.lead(),
    subject: 'Back again',
    body: who.stage.lines.back.draw(),
  })
}

/** Everybody is asked to stop; who is busy finishes first. In the morning they are all back. */
async function evening(stage: Stage, standIn: StandIn, lead: Player): Promise<void> {
  stage.isNight = true
  if (lead.here) {
    await say(lead, 'That was today', 'evening')
    for (const player of stage.players.values()) await sendHome(lead, player, 'The day is over.')
  }
  stage.schedule.after(nightSeconds, async () => {
    for (const player of stage.players.values()) await player.goHome()
  })
  stage.schedule.after(nightSeconds + morningSeconds, () => beginDay(stage, standIn))
}
