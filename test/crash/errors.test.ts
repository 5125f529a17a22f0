import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { allVerbs } from '../../src/cli/verbs.ts'
import type { Entry } from '../../src/model/entry.ts'
import { openDisk } from '../../src/space/open.ts'
import { entriesIn } from '../helpers/drafts.ts'
import { createScene, everyVerb, otherVerbs, type VerbCall } from '../helpers/every-verb.ts'
import {
  type CallFault,
  faultsFor,
  injector,
  type Recorded,
  readRecorded,
  recorder,
  wasInjected,
} from '../helpers/faults.ts'
import { createChance } from '../helpers/history.ts'
import { runVerb, type VerbRun } from '../helpers/run-verb.ts'
import { Campaign, campaignSize, inStorm, isStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'

const faults = campaignSize('errors', 2_000, 6)
const atOnce = 3

beforeEach(() => needTool('strace'))

/** Why an answer is none that a caller can act on; undefined if it is. */
function untyped({ status, signal, stdout, stderr }: VerbRun): string | undefined {
  const said = `${stdout}\n${stderr}`
  const sign =
    /"code":\s*"internal"|Unknown system error|^\s+at .+:\d+:\d+\)?$|panicked at|\(node:\d+\) Warning/m.exec(
      said,
    )
  if (sign !== null) return `${sign[0].trim()} in ${said.trim().slice(0, 600)}`
  if (signal !== null) return `ended by ${signal}: ${said.trim().slice(0, 600)}`
  if (status! > 7 && ![130, 143].includes(status!)) return `exit ${status}: ${said.trim().slice(0, 600)}`
  return undefined
}

/** What is missing of what a verb was told, or of what was there before; empty when nothing is. */
async function lostIn(dir: string, before: readonly Entry[], name: string, call: VerbCall, run: VerbRun) {
  const wrong: string[] = []
  const now = await entriesIn(dir)
  const kept = now.slice(0, before.length)
  if (JSON.stringify(kept) !== JSON.stringify(before)) wrong.push('what was there before has changed')
  const added = now.slice(before.length)
  const { adds } = call
  if (run.status === 0 && adds !== undefined && !added.some(({ kind }) => kind === adds))
    wrong.push(`it succeeded without a ${adds} entry`)
  for (const id of run.sent) {
    const times = added.filter((entry) => entry.kind === 'message' && entry.message.id === id).length
    if (times !== 1) wrong.push(`${id} was acknowledged, and is there ${times} times`)
  }
  const holds = (file: string, text: string) => readFileSync(join(dir, file), 'utf8').includes(text)
  if (run.status === 0 && name === 'config' && !holds('config.json', '77')) wrong.push('the setting is lost')
  if (run.status === 0 && name === 'token' && !holds('hub/agents.json', 'ada'))
    wrong.push('the token is lost')
  return wrong
}

/** What is wrong with a space in which a call has failed once; empty when nothing is. */
async function wrongIn(dir: string): Promise<string[]> {
  const space = await openDisk({ dir, settings: { durability: 'os' } })
  try {
    const { problems } = await space.verify({ deep: true })
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', subject: 'afterwards' })
    await ada.count()
    return problems
  } catch (error) {
    return [`it cannot be used any more: ${(error as Error).message}`]
  } finally {
    await space.close()
  }
}

it('every verb has its call in the scene', async () => {
  const dir = tempDir()
  const calls = everyVerb(dir, await createScene(join(dir, 'space')))
  const names = (await allVerbs()).map(({ name }) => name)
  expect([...Object.keys(calls), ...otherVerbs].sort()).toEqual([...names, 'help'].sort())
})

it(
  `${faults} times a system call fails, whichever verb makes it: a typed error, and nothing is lost`,
  async () => {
    const random = isStorm ? Math.random : createChance(20_261_116)
    const campaign = new Campaign('errors', faults)
    const root = realpathSync(tempDir())
    const template = join(root, 'template')
    const ids = await createScene(template)
    const before = await entriesIn(template)
    const found: string[] = []
    const figures = {
      'failed system calls': 0,
      verbs: 0,
      'refused with a code': 0,
      'answered all the same': 0,
      'untyped errors': 0,
      'acknowledged and lost': 0,
      'spaces damaged': 0,
    }

    /** Runs a verb in a copy of the scene. */
    async function inCopy(name: string, at: string, underFor: (dir: string, log: string) => string[]) {
      const home = join(root, at)
      // Every copy has the same path, as the verbs of the scene name it; lanes differ.
      const dir = join(home, 'space')
      rmSync(home, { recursive: true, force: true })
      mkdirSync(home)
      cpSync(template, dir, { recursive: true })
      const call = everyVerb(dir, ids)[name]!
      const log = join(home, 'calls.log')
      const run = await runVerb(call, { dir, home, under: underFor(dir, log) })
      return { dir, log, run, call }
    }

    const recordings = new Map<string, { recorded: Recorded; faults: Generator<CallFault> }>()

    /** Tries faults on one verb after another until there are enough. */
    async function lane(lane: string) {
      for (;;) {
        const name = queue.shift()
        if (name === undefined || figures['failed system calls'] >= faults) return
        let known = recordings.get(name)
        if (known === undefined) {
          const { dir, log, run } = await inCopy(name, lane, (_, to) => recorder(to))
          const trouble = untyped(run) ?? (run.stdout.startsWith('{"error"') ? run.stdout : undefined)
          if (trouble !== undefined) throw new Error(`${name} without a fault: ${trouble} ${run.stderr}`)
          const recorded = await readRecorded(log, run.pid, dir)
          known = { recorded, faults: faultsFor(recorded, random) }
          recordings.set(name, known)
          figures.verbs++
        }
        const { recorded } = known
        const next = known.faults.next()
        if (next.done) continue
        queue.push(name)
        const fault = next.value
        const { dir, log, run, call } = await inCopy(name, lane, (dir, to) =>
          injector(fault, recorded, dir, to),
        )
        if (!(await wasInjected(log, run.pid))) continue
        figures['failed system calls']++
        const note = (
          figure: 'untyped errors' | 'acknowledged and lost' | 'spaces damaged',
          text: string,
        ) => {
          figures[figure]++
          found.push(`${name}, ${fault.call} ${fault.nth} ${fault.error}: ${text}`)
        }
        const bad = untyped(run)
        if (bad !== undefined) note('untyped errors', bad)
        // What was told to stop says so.
        const answered = run.status === 0 || (call.endless && [130, 143].includes(run.status!))
        figures[answered ? 'answered all the same' : 'refused with a code']++
        for (const text of await lostIn(dir, before, name, call, run)) note('acknowledged and lost', text)
        for (const text of await wrongIn(dir)) note('spaces damaged', text)
        campaign.progress(figures['failed system calls'], figures)
      }
    }
    const names = Object.keys(everyVerb(template, ids))
    // The sample of `npm test` begins with the verbs that matter most.
    const queue = [...new Set(['send', 'serve', 'config', 'check', 'import', 'token', ...names])]
    await Promise.all(Array.from({ length: atOnce }, (_, at) => lane(`lane-${at}`)))
    campaign.end(figures)
    if (found.length > 0) console.log(found.join('\n'))
    expect(found.slice(0, 50)).toEqual([])
  },
  inStorm(7_200_000, 180_000),
)
