import type { KillableProcess } from './killable-process.ts'
import type { MockAgent } from './mock-agent.ts'
import { askThePerson, assign, farewell, incident, sendHome } from './scenes.ts'
import { type DemoState, holders } from './state.ts'

/** From the end of the day until everyone has left, and from then until they are all back. */
const nightSeconds = 100
const morningSeconds = 20

/** Plays a day, then a night, then starts the next day. */
export async function beginDay(demo: DemoState, killable: KillableProcess): Promise<void> {
  const { schedule, daySeconds } = demo
  demo.isNight = false
  for (const agent of demo.agents.values()) await agent.comeIn()
  const [lead] = holders(demo, 'lead')
  const [oncall] = holders(demo, 'oncall')
  if (lead === undefined || oncall === undefined) return

  at(lead, 4, () => say(lead, 'Good morning', 'standup'))
  // The first tasks cover each kind: a plan for the lead, one for the person, a question, any task.
  at(lead, 8, () => assign(lead, ({ plan, byPerson }) => plan !== undefined && !byPerson))
  at(lead, 11, () => assign(lead, ({ byPerson }) => byPerson === true))
  at(lead, 14, () => assign(lead, ({ question }) => question !== undefined))
  at(lead, 17, () => assign(lead))
  at(oncall, 45, () => incident(oncall))
  schedule.after(30, () => askThePerson(demo, ({ kind }) => kind === 'help'))
  schedule.after(50, () => repeat(demo, daySeconds))

  at(lead, daySeconds / 2, () => say(lead, 'Midday check-in', 'lunch'))
  troubles(demo, killable, lead)
  schedule.after(daySeconds, () => evening(demo, killable, lead))
}

const at = (agent: MockAgent, seconds: number, work: () => Promise<void>) =>
  agent.after([seconds, seconds], work)

async function say(me: MockAgent, subject: string, line: 'standup' | 'lunch' | 'evening'): Promise<void> {
  await me.mailbox.broadcast({ subject, body: me.demo.lines[line].draw() })
}

/** Keeps asking the person questions until the end of the day. */
async function repeat(demo: DemoState, untilSeconds: number): Promise<void> {
  await askThePerson(demo)
  const pause = demo.random.between(70, 160)
  if (pause < untilSeconds) demo.schedule.after(pause, () => repeat(demo, untilSeconds - pause))
}

/** What goes wrong in a day: crashes, breaks, and an agent that leaves for good. */
function troubles(demo: DemoState, killable: KillableProcess, lead: MockAgent): void {
  const { schedule } = demo
  const mortal = demo.agents.get(killable.name)
  if (mortal !== undefined) {
    for (const when of [105, demo.daySeconds * 0.55]) {
      schedule.after(when, () => die(mortal, killable))
      schedule.after(when + 60, () => comeBack(mortal))
    }
  }
  const [writer] = holders(demo, 'docs')
  if (writer !== undefined)
    at(lead, 130, () =>
      sendHome(lead, writer, 'Your token budget for the morning is used up. See you after the break.'),
    )
  const guest = demo.agents.get('nils')
  const heir = holders(demo, 'tester').find((agent) => agent !== guest)
  if (guest !== undefined && heir !== undefined) at(guest, 150, () => farewell(guest, heir))
}

async function die(who: MockAgent, killable: KillableProcess): Promise<void> {
  if (!who.here) return
  who.goAway()
  await killable.kill()
  // The others notice, and its claims become free.
  await who.demo.space.runDue()
}

async function comeBack(who: MockAgent): Promise<void> {
  if (who.here) return
  await who.comeIn()
  await who.mailbox.send({
    to: await who.mailbox.lead(),
    subject: 'Back online',
    body: who.demo.lines.back.draw(),
  })
}

/** Asks everyone to stop; busy agents finish first. They all return in the morning. */
async function evening(demo: DemoState, killable: KillableProcess, lead: MockAgent): Promise<void> {
  demo.isNight = true
  if (lead.here) {
    await say(lead, 'Wrapping up', 'evening')
    for (const agent of demo.agents.values()) await sendHome(lead, agent, 'End of the day.')
  }
  demo.schedule.after(nightSeconds, async () => {
    for (const agent of demo.agents.values()) await agent.goHome()
  })
  demo.schedule.after(nightSeconds + morningSeconds, () => beginDay(demo, killable))
}
