import { isWorkday, minute, timeAt } from './calendar.ts'
import { type Cast, workers } from './cast.ts'
import { atNight, beginSomething, sendHome } from './flows.ts'
import type { Player } from './player.ts'

/** How often somebody begins something on a workday. */
const begunADay = 30

/** Puts a day on the agenda: when everybody comes and goes, what goes wrong, what is begun. */
export function planDay(cast: Cast, day: number, isLast = false): void {
  const { world } = cast
  const { agenda, random } = world
  const at = (hours: number, work: () => Promise<void>) => agenda.at(timeAt(day, hours), work)
  const works = isWorkday(timeAt(day, 12))

  for (const agent of cast.agents) {
    if (agent.name === 'cid') planWatch(cast, agent, day, isLast)
    else if (works) planWorkday(cast, agent, day, isLast)
    else if (agent.name === 'otto') planLook(cast, agent, day)
  }
  if (works) planPerson(cast, day)
  if (isLast) return
  if (works) for (let n = 0; n < begunADay; n++) at(random.between(8.2, 18.5), () => beginSomething(cast))
  const nights = random.between(0, 3)
  for (let n = 0; n < nights; n++)
    at(random.pick([random.between(0, 6), random.between(20, 24)]), () => atNight(cast))
  if (works)
    for (const name of [random.pick(workers), random.pick(workers)])
      at(random.between(16.8, 18), () => sendHome(cast, name))
}

/** Comes back however it may: by joining, or by just going on where that is possible. */
async function comeIn(agent: Player): Promise<void> {
  const { member, random, world } = { member: agent.member!, random: agent.random, world: agent.world }
  if (agent.isAwake) return
  const { state } = member
  if (state === 'present' && random.happens(0.6)) return agent.wake()
  const mayJustAct =
    (state === 'frozen' && random.happens(0.3)) || (state === 'crashed' && random.happens(0.4))
  if (mayJustAct && state === 'crashed') world.saw('A7')
  await agent.begin(!mayJustAct)
}

function planWorkday(cast: Cast, agent: Player, day: number, isLast: boolean): void {
  const { world } = cast
  const { agenda, random } = world
  const at = (hours: number, work: () => Promise<void>) => agenda.at(timeAt(day, hours), work)
  at(random.between(7.8, isLast ? 8.8 : 9.7), () => comeIn(agent))
  const lunch = random.between(11.8, 12.8)
  const freezes = random.happens(0.4)
  at(lunch, async () => {
    if (!agent.isAwake) return
    if (freezes) await agent.freeze()
    else agent.idle()
  })
  at(lunch + random.between(0.4, 1.3), () => comeIn(agent))
  if (isLast) return
  if (random.happens(0.25)) planCrash(cast, agent, timeAt(day, random.between(9, 18)))
  at(random.between(17, 19.5), () => goHome(agent))
}

function planCrash(cast: Cast, agent: Player, time: number): void {
  const { agenda, random } = cast.world
  const isLong = random.happens(0.15)
  const back = isLong ? random.between(14 * 60, 20 * 60) : random.between(1, 150)
  agenda.at(time, async () => {
    if (!agent.isAwake) return
    await agent.crash()
    agenda.after(minute, () => checkReadings(cast))
    agenda.after(back * minute, () => comeIn(agent))
  })
}

async function goHome(agent: Player): Promise<void> {
  if (!agent.isAwake) return
  const way = agent.random.next()
  if (way < 0.55) await agent.freeze()
  else if (way < 0.6) await agent.leave()
  else if (way < 0.9) agent.idle()
  else await agent.crash()
}

/** The one that runs the checks is there day and night. */
function planWatch(cast: Cast, agent: Player, day: number, isLast: boolean): void {
  const { agenda, random } = cast.world
  agenda.at(timeAt(day, 7.6), () => comeIn(agent))
  if (!isLast && random.happens(0.15)) planCrash(cast, agent, timeAt(day, random.between(9, 20)))
}

/** On a weekend the one on call looks in for an hour. */
function planLook(cast: Cast, agent: Player, day: number): void {
  const { agenda, random } = cast.world
  const start = random.between(9, 20)
  agenda.at(timeAt(day, start), () => comeIn(agent))
  agenda.at(timeAt(day, start + 1), () => goHome(agent))
}

function planPerson(cast: Cast, day: number): void {
  const { agenda, random } = cast.world
  const { person } = cast
  const at = (hours: number, work: () => Promise<void>) => agenda.at(timeAt(day, hours), work)
  at(9 + random.between(0.02, 0.5), () => person.wake())
  const lunch = random.between(12, 13)
  at(lunch, async () => person.idle())
  at(lunch + random.between(0.5, 1), () => person.wake())
  at(18, async () => person.idle())
}

/** What the space says of itself agrees: who is there, and how much is unread. */
export async function checkReadings(cast: Cast): Promise<void> {
  const { world } = cast
  const { space, team } = world
  world.saw('A8')
  world.saw('A9')
  const agents = await world.act('system', 'is asked who is there', () => space.agents())
  for (const member of team.members) {
    const listed = agents?.find(({ name }) => name === member.name)?.state
    if (listed === undefined) continue
    const isListedThere = listed !== 'dead' && listed !== 'frozen'
    const isThere = team.isPresent(member.name)
    if (isThere !== isListedThere && isThere === team.isSurelyPresent(member.name))
      world.fault('present', `${isThere ? 'is there' : member.state} and listed as ${listed}`, member.name)
  }
  const stats = (await world.act('system', 'is asked for figures', () => space.stats()))!
  for (const name of [...team.members.filter(({ run }) => run > 0).map((one) => one.name), 'user']) {
    const mailbox = await space.mailbox(name, { join: false })
    const { unread } = await mailbox.count()
    const { messages, next } = await mailbox.inbox({ unread: true, limit: 1_000 })
    if (next === null && messages.length !== unread)
      world.fault('counted', 'count and inbox differ', `${name}: ${unread}, ${messages.length}`)
    const pending = stats.agents.find((one) => one.name === name)?.pending
    if (pending !== undefined && pending !== unread)
      world.fault('counted', 'count and stats differ', `${name}: ${unread}, ${pending}`)
  }
}
