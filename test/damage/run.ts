import { expect, onTestFinished } from 'vitest'
import { flipped } from '../helpers/damage-space.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { JournalTrials } from './journal-trials.ts'

/** Of the trials that do not look new, how many go through the whole space as well. DAMAGE_SHARE=1: all of them. */
const share = Number(process.env['DAMAGE_SHARE'] ?? inStorm(0.01, 0))
const opensAtMost = Number(process.env['DAMAGE_OPENS'] ?? inStorm(1e9, 12))

async function run(
  name: string,
  trialsOf: (bytes: Buffer) => {
    count: number
    damaged: (n: number) => [what: string, bytes: Buffer, mayLose: number]
  },
) {
  const trials = new JournalTrials({ share, opensAtMost })
  onTestFinished(() => trials.close())
  const { count, damaged } = trialsOf(await trials.prepare())
  const campaign = new Campaign('damage', count, name)
  const { figures } = trials
  for (let n = 0; n < count; n++) {
    await trials.try(...damaged(n))
    campaign.progress(n, figures)
  }
  campaign.end(figures)
  expect(trials.wrong.slice(0, 5)).toEqual([])
  expect(figures.detected).toBe(count)
}

/** Flips every bit of the journal, or those whose number is `part` modulo `parts`. `npm test` takes a few of them. */
export const flipBits = (part: number, parts: number): Promise<void> =>
  run(`flips ${part}`, (bytes) => {
    const all = Math.ceil((bytes.length * 8 - part) / parts)
    return {
      count: campaignSize('damage', all, 60),
      damaged: (n) => {
        const bit = part + parts * ((n * spread) % all)
        return [`bit ${bit & 7} of byte ${bit >> 3}`, flipped(bytes, bit), 1]
      },
    }
  })

/** Cuts the journal off at every byte. */
export const cutOff = (): Promise<void> =>
  run('cuts', (bytes) => ({
    count: campaignSize('damage', bytes.length, 20),
    damaged: (n) => {
      const cut = (n * spread) % bytes.length
      const gone = bytes.subarray(cut).filter((byte) => byte === 0x0a).length
      return [`cut at ${cut}`, bytes.subarray(0, cut), gone]
    },
  }))

/** A prime, so that a part of the trials is spread over all of them, and all of them come once. */
const spread = 104_729

/** Long enough for all of it on a busy machine. */
export const campaignMs = inStorm(7_200_000, 120_000)
