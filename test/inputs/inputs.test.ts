import { afterAll, describe, expect, it } from 'vitest'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { commandLine, processes } from './command-line.ts'
import { hookProcesses, hooks } from './hooks.ts'
import { http } from './http.ts'
import { imports } from './import.ts'
import type { Judge } from './judge.ts'
import { library } from './library.ts'
import { mcp } from './mcp.ts'

const size = campaignSize('inputs', 1_000_000, 2_000)
const seed = Number(process.env['STORM_SEED'] ?? inStorm(Math.floor(Math.random() * 1e9), 1))
const campaign = new Campaign('inputs', size)
const judges: Judge[] = []
const sum = (of: 'inputs' | 'accepted' | 'refused' | 'untyped' | 'changed'): number =>
  judges.reduce((total, judge) => total + judge[of], 0)

const entries: [name: string, share: number, run: typeof library][] = [
  ['the library', 0.4, library],
  ['HTTP', 0.06, http],
  ['MCP', 0.04, mcp],
  ['an import', 0.49, imports],
  ['the command line', 0.006, commandLine],
  ['processes of the command line', 0.0003, processes],
  ['hooks', 0.0034, hooks],
  ['processes of hooks', 0.0003, hookProcesses],
]

describe('whatever comes in is taken as it is or refused with a code', () => {
  it.each(entries)('through %s', { timeout: inStorm(7_200_000, 120_000) }, async (_, share, run) => {
    const judge = await run(Math.round(size * share), seed, (now) =>
      campaign.progress(sum('inputs') + now.inputs, { untyped: sum('untyped') + now.untyped }),
    )
    judges.push(judge)
    expect(judge.findings, `seed ${seed}`).toEqual([])
    expect(judge.accepted).toBeGreaterThan(0)
  })

  afterAll(() => {
    const each = Object.fromEntries(judges.map(({ entry, inputs }) => [`through ${entry}`, inputs]))
    campaign.end({
      inputs: sum('inputs'),
      ...each,
      ...{ accepted: sum('accepted'), 'refused with a code': sum('refused') - sum('untyped') },
      ...{ 'untyped errors': sum('untyped'), changed: sum('changed') },
    })
  })
})
