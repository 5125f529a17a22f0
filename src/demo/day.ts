import type { Demo } from './demo.ts'
import type { MockAgent } from './mock-agent.ts'
import { askThePerson, assign, farewell, incident, sendHome } from './scenes.ts'

/** From the end of the day until everyone has left, and from then until they are all back. */
const nightSeconds = 100
const morningSeconds = 20

/** Plays a day, then a night, then starts the next day. */
export async function beginDay(demo: Demo): Promise<void> {
  const { schedule, daySeconds } = demo
  demo.isNight = false
  for (const agent of demo.agents.values()) await agent.comeIn()
  // Every team has each role, and all are here now.
  const first = (role: string) => demo.holders(role)[0]!
  const lead = first('lead')
  const oncall = first('oncall')

  at(lead, 4, () => say(lead, 'Good morning', 'standup'))
  // The first tasks cover each kind: a plan for the lead, one for the person, a question, any task.
  at(lead, 8, () => assign(lead, ({ plan, byPerson }) => plan !== undefined && !byPerson))
  at(lead, 11, () => assign(lead, ({ byPerson }) => byPerson === true))
  at(lead, 14, () => assign(lead, ({ question }) => question !== undefined))
  at(lead, 17, () => assign(lead))
  at(oncall, 45, () => incident(oncall))
  schedule.after(30, () => askThePerson(demo, ({ kind }) => kind === 'help'))
  schedule.after(50, () => keepAsking(demo, daySeconds))
  at(lead, daySeconds / 2, () => say(lead, 'Midday check-in', 'lunch'))

  // What goes wrong in a day: crashes, breaks, and an agent that leaves for good.
  const mortal = demo.holders('worker').at(-1)!
  for (const when of [105, daySeconds * 0.55]) {
    schedule.after(when, () => mortal.die())
    schedule.after(when + 60, () => comeBack(mortal))
  }
  const writer = first('docs')
  const reason = 'Your token budget for the morning is used up. See you after the break.'
  at(lead, 130, () => sendHome(lead, writer, reason))
  const heir = first('tester')
  const guest = demo.agents.get('nils')
  if (guest !== undefined) at(guest, 150, () => farewell(guest, heir))

  schedule.after(daySeconds, () => endDay(demo, lead))
}

const at = (agent: MockAgent, seconds: number, work: () => Promise<void>) =>
  agent.after([seconds, seconds], work)

async function say(me: MockAgent, subject: string, line: 'standup' | 'lunch' | 'evening'): Promise<void> {
  await me.mailbox.broadcast({ subject, body: me.demo.texts[line].draw() })
}

/** Asks the person questions until the end of the day. */
async function keepAsking(demo: Demo, untilSeconds: number): Promise<void> {
  await askThePerson(demo)
  const pause = demo.random.between(70, 160)
  if (pause < untilSeconds) demo.schedule.after(pause, () => keepAsking(demo, untilSeconds - pause))
}

async function comeBack(who: MockAgent): Promise<void> {
  if (who.here) return
  await who.comeIn()
  const to = await who.mailbox.lead()
  await who.mailbox.send({ to, subject: 'Back online', body: who.demo.texts.back.draw() })
}

/** Asks everyone to stop; busy agents finish first. They all return in the morning. */
async function endDay(demo: Demo, lead: MockAgent): Promise<void> {
  demo.isNight = true
  if (lead.here) {
    await say(lead, 'Wrapping up', 'evening')
    for (const agent of demo.agents.values()) await sendHome(lead, agent, 'End of the day.')
  }
  demo.schedule.after(nightSeconds, async () => {
    for (const agent of demo.agents.values()) await agent.goHome()
  })
  demo.schedule.after(nightSeconds + morningSeconds, () => beginDay(demo))
}
