import { expect, onTestFinished } from 'vitest'
import { flipped } from '../helpers/damage-space.ts'
import { inStorm, isStorm } from '../helpers/storm.ts'
import { DamageCampaign } from './campaign.ts'

/** Of the trials that do not look new, how many go through the whole space as well. DAMAGE_SHARE=1: all of them. */
const share = Number(process.env['DAMAGE_SHARE'] ?? inStorm(0.01, 0))
const opensAtMost = inStorm(Number.POSITIVE_INFINITY, 12)

async function run(name: string, trials: (campaign: DamageCampaign, bytes: Buffer) => Promise<void>) {
  const campaign = new DamageCampaign({ share, opensAtMost })
  onTestFinished(() => campaign.close())
  await trials(campaign, await campaign.prepare())
  const { wrong, ...counts } = campaign.tally
  if (isStorm) console.log(`${name}: ${JSON.stringify(counts)}`)
  expect(wrong.slice(0, 5)).toEqual([])
  expect(counts.detected).toBe(counts.trials)
}

/** Flips every bit of the journal, or those whose number is `part` modulo `parts`. `npm test` takes a few of them. */
export const flipBits = (part: number, parts: number): Promise<void> =>
  run(`flipped bits, part ${part + 1} of ${parts}`, async (campaign, bytes) => {
    for (let bit = part; bit < bytes.length * 8; bit += inStorm(parts, 1_301))
      await campaign.try(`bit ${bit & 7} of byte ${bit >> 3}`, flipped(bytes, bit), 1)
  })

/** Cuts the journal off at every byte. */
export const cutOff = (): Promise<void> =>
  run('truncations', async (campaign, bytes) => {
    for (let cut = 0; cut < bytes.length; cut += inStorm(1, 1_301)) {
      const gone = bytes.subarray(cut).filter((byte) => byte === 0x0a).length
      await campaign.try(`cut at ${cut}`, bytes.subarray(0, cut), gone)
    }
  })

/** Long enough for all of it on a busy machine. */
export const campaignMs = inStorm(7_200_000, 120_000)
