import { writeSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Campaign, campaignSize, isStorm } from '../helpers/storm.ts'
import { play } from './play.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { summarize, type Tally, tallyOf } from './summary.ts'
import type { Mode } from './world.ts'

/** At most so many of the notices may be useless. */
const uselessShare = 0.05

const onlySeed = process.env['STORM_SEED']

/** Only briefings can show these. */
const ofHooks: readonly Scenario[] = ['E13', 'E17']

/**
 * Plays weeks, or in `npm test` one day, in one of the three ways in which a team lives with its mailbox, and asks the
 * model about every notice and every matter.
 */
export function playWeeks(mode: Mode, sampleSeed: number): void {
  const isWeek = process.env['STORM'] === 'week'
  const size = campaignSize('week', 20, 1)
  const seeds =
    onlySeed !== undefined
      ? [Number(onlySeed)]
      : isWeek
        ? Array.from({ length: size }, (_, at) => at + 1)
        : [sampleSeed]
  const title = isWeek ? `${seeds.length} weeks of a team` : 'a day of a team'
  it(`${title}, ${mode}: what the mailbox says is true`, { timeout: 7_200_000 }, async () => {
    const campaign = new Campaign('week', seeds.length, mode)
    const sum: Tally = {
      ...{
        messages: 0,
        notices: 0,
        false: 0,
        useless: 0,
        lost: 0,
        atNight: 0,
        faults: 0,
        notUnderstood: 0,
      },
    }
    const seen = new Map<string, number>()
    for (const [at, seed] of seeds.entries()) {
      const played = await play(seed, mode, isWeek ? 7 : 1)
      const tally = tallyOf(played)
      for (const key of Object.keys(sum) as (keyof Tally)[]) sum[key] += tally[key]
      for (const [scenario, n] of played.world.seen) seen.set(scenario, (seen.get(scenario) ?? 0) + n)
      const isSound = tally.false + tally.useless + tally.lost + tally.atNight + tally.faults === 0
      if (isStorm || !isSound) writeSync(2, `${summarize(played)}\n`)
      campaign.progress(at + 1, { notices: sum.notices, false: sum.false, lost: sum.lost })
    }
    campaign.end({
      [isWeek ? 'weeks' : 'days']: seeds.length,
      messages: sum.messages,
      notices: sum.notices,
      'false notices': sum.false,
      'useless notices': sum.useless,
      'lost to whoever waited': sum.lost,
      'notices to the person outside hours': sum.atNight,
      'faults in handing out, counting and presence': sum.faults,
    })
    const never = (Object.keys(scenarios) as Scenario[])
      .filter((scenario) => mode === 'hooks' || !ofHooks.includes(scenario))
      .filter((scenario) => !seen.has(scenario))
    // What never came up was not tried.
    if (isWeek && seeds.length >= 20) expect(never).toEqual([])
    const { lost, atNight, faults, notUnderstood } = sum
    expect({ false: sum.false, lost, atNight, faults, notUnderstood }).toEqual({
      ...{ false: 0, lost: 0, atNight: 0, faults: 0, notUnderstood: 0 },
    })
    // A day has too few notices for a share of them.
    expect(sum.useless).toBeLessThanOrEqual(Math.max(1, uselessShare * sum.notices))
  })
}
