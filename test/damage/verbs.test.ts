import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { flipped, isIndex, memoryDir } from '../helpers/damage-space.ts'
import { createScene, everyVerb, type SceneIds, type VerbCall } from '../helpers/every-verb.ts'
import { runVerb, type VerbRun } from '../helpers/run-verb.ts'
import { Campaign, campaignSize } from '../helpers/storm.ts'
import { campaignMs } from './run.ts'

/** Answers about the record that is damaged. Everything else is as if nothing had happened. */
const aboutTheRecord = ['damaged', 'not_found', 'conflict', 'invalid', 'not_addressed', 'unknown_recipient']
/** Verbs that exit with 1 when something is lost, because that is what they are asked for. */
const finders = ['verify', 'doctor', 'repair']
const lanes = 2

const errorOf = ({ stdout, stderr }: VerbRun): string => /"code":\s*"(\w+)"/.exec(stderr + stdout)?.[1] ?? ''

/** The space of all trials, and how each verb answers in it while nothing is damaged. */
class Scene {
  readonly base = memoryDir()
  readonly #whole = join(this.base, 'whole')
  readonly #usual = new Map<string, { status: number | null; error: string }>()
  ids!: SceneIds
  bytes = new Map<string, Buffer>()

  async prepare(): Promise<void> {
    this.ids = await createScene(this.#whole)
    const journal = join(this.#whole, 'journal')
    for (const name of readdirSync(journal)) this.bytes.set(name, readFileSync(join(journal, name)))
  }

  get bits(): number {
    return [...this.bytes.values()].reduce((sum, { length }) => sum + length * 8, 0)
  }

  lay(dir: string, keepsIndex: boolean): void {
    rmSync(dir, { recursive: true, force: true })
    cpSync(this.#whole, dir, { recursive: true })
    for (const name of readdirSync(dir)) if (!keepsIndex && isIndex(name)) rmSync(join(dir, name))
  }

  /** Flips a bit of the journal, counted over all segments. Returns where it is. */
  flip(dir: string, bit: number): string {
    let left = bit
    for (const [name, bytes] of this.bytes) {
      if (left < bytes.length * 8) {
        writeFileSync(join(dir, 'journal', name), flipped(bytes, left))
        return `bit ${left & 7} of byte ${left >> 3} of ${name}`
      }
      left -= bytes.length * 8
    }
    throw new Error(`there is no bit ${bit}`)
  }

  async usual(name: string, call: VerbCall, dir: string, home: string) {
    const known = this.#usual.get(name)
    if (known !== undefined) return known
    this.lay(dir, true)
    const run = await runVerb(call, { dir, home })
    const answer = { status: run.status, error: errorOf(run) }
    this.#usual.set(name, answer)
    return answer
  }
}

async function runAll(scene: Scene, trials: number) {
  const campaign = new Campaign('damage', trials, 'verbs')
  const names = Object.keys(everyVerb('', scene.ids))
  const figures = {
    'verb calls with a flipped bit': 0,
    'answered as usual': 0,
    'typed errors about the record': 0,
    aborts: 0,
  }
  const wrong: string[] = []
  const one = async (at: number, dir: string, home: string) => {
    const name = names[at % names.length]!
    const call = everyVerb(dir, scene.ids)[name]!
    const usual = await scene.usual(name, call, dir, home)
    scene.lay(dir, Math.floor(at / names.length) % 2 === 0)
    const where = scene.flip(dir, (at * 104_729) % scene.bits)
    const run = await runVerb(call, { dir, home })
    const [error, { status, signal, stderr }] = [errorOf(run), run]
    figures['verb calls with a flipped bit']++
    // It has found the damage, which is what it is for.
    const isFound = finders.includes(name) && status === 1
    const isUsual = status === usual.status && error === usual.error && name !== 'verify'
    const isStopped = call.endless === true && signal === 'SIGTERM'
    const isTyped = status !== null && status < 128 && aboutTheRecord.includes(error)
    if (isFound || isUsual || isStopped) figures['answered as usual']++
    else if (isTyped) figures['typed errors about the record']++
    else wrong.push(`mailbox ${call.words.join(' ')}, ${where}: ${status ?? signal} ${error}\n${stderr}`)
    if (!isUsual && !isStopped && (status === null || status >= 128)) figures.aborts++
    if (/\n\s+at |panicked/.test(stderr)) wrong.push(`mailbox ${name}, ${where}: ${stderr}`)
    campaign.progress(figures['verb calls with a flipped bit'], figures)
  }
  const lane = async (first: number) => {
    const home = join(scene.base, `home-${first}`)
    mkdirSync(home)
    for (let at = first; at < trials; at += lanes) await one(at, join(scene.base, `lane-${first}`), home)
  }
  await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)))
  campaign.end(figures)
  return wrong
}

describe('the command line, with one flipped bit in the journal', () => {
  it(
    'has every verb work, and none abort',
    async () => {
      const scene = new Scene()
      onTestFinished(() => rmSync(scene.base, { recursive: true, force: true }))
      await scene.prepare()
      const wrong = await runAll(scene, campaignSize('damage', 2_000, 6))
      expect(wrong.slice(0, 5)).toEqual([])
    },
    campaignMs,
  )
})
