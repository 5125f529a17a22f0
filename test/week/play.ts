import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isInHours, minute, second, timeAt } from './calendar.ts'
import { Cast, roster } from './cast.ts'
import { checkReadings, planDay } from './days.ts'
import { resetTasks } from './flows.ts'
import { findLosses, type Loss } from './outcomes.ts'
import { type Mode, World } from './world.ts'

export interface Played {
  seed: number
  mode: Mode
  world: World
  losses: Loss[]
}

/**
 * Plays so many days, and then one more, a Monday after a whole week, on which everybody comes back and nothing new is
 * begun.
 */
export async function play(seed: number, mode: Mode, days = 7): Promise<Played> {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-week-'))
  const world = new World(seed, mode, roster)
  const cast = new Cast(world)
  resetTasks()
  try {
    await world.open(dir)
    cast.person.mailbox = await world.space.mailbox('user', { join: false })
    const last = days
    for (let day = 0; day < last; day++) planDay(cast, day)
    planDay(cast, last, true)
    for (let day = 0; day <= last; day++)
      for (const hours of [11, 16.5, 22]) world.agenda.at(timeAt(day, hours), () => checkReadings(cast))
    const end = timeAt(last, days < 7 ? 12 : 18)
    if (mode === 'hub') keepTime(world, end, days < 7 ? 3 : 1)
    await world.agenda.playUntil(end)
    return { seed, mode, world, losses: await conclude(cast) }
  } finally {
    for (const agent of cast.agents) await agent.end()
    await world.close()
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Somebody who stays does what is due: often while people are there, every minute at night. */
function keepTime(world: World, end: number, pace: number): void {
  const { agenda } = world
  const everyMs = () => pace * (isInHours(agenda.now) ? 20 * second : minute)
  const run = async () => {
    await world.act('system', 'does what is due', () => world.space.runDue())
    if (agenda.now < end) agenda.after(everyMs(), run)
  }
  agenda.at(agenda.now, run)
}

/** More than anybody needs to read all there is, within the budget of a briefing. */
const roundsAtMost = 30

/** Everybody reads all there is; then what was lost is lost. */
async function conclude(cast: Cast): Promise<Loss[]> {
  const { world } = cast
  for (const agent of cast.agents) if (!world.team.isPresent(agent.name)) await agent.begin()
  for (let round = 0; round < roundsAtMost; round++) {
    let found = 0
    for (const player of [...cast.agents, cast.person]) found += (await player.look('start')).length
    if (found === 0) break
  }
  const owed = (await world.act('system', 'is asked what is owed', () => world.space.owed())) ?? []
  const states = new Map<string, string>()
  for (const { id, requiresAck } of world.facts.letters.values()) {
    if (!requiresAck) continue
    for (const { recipient, state } of (await world.space.show(id)).receipts)
      states.set(`${id} ${recipient}`, state)
  }
  world.judge.end()
  return findLosses({
    facts: world.facts,
    now: world.now(),
    notices: world.judge.notices,
    owed,
    stateOf: ({ id }, recipient) => states.get(`${id} ${recipient}`),
  })
}
