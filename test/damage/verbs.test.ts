import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildDamageSpace, type DamageSpace, flipped, layOut, memoryDir } from '../helpers/damage-space.ts'
import { inStorm, isStorm } from '../helpers/storm.ts'
import { campaignMs } from './run.ts'

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))
const segment = 'journal/00000001.jsonl'

/** Every verb that looks at the mail of a space and comes to an end, by its words. */
const verbs = (ids: readonly string[]): string[][] => {
  const [question, task, other, news, plan, answer, urgent] = ids as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  return [
    ...[['agents'], ['join', 'dee'], ['join', 'ada'], ['leave'], ['update', '--note', 'busy']],
    ...[
      ['send', 'bob', '--subject', 'x'],
      ['send', 'role:builder', '--subject', 'x'],
      ['broadcast', '--subject', 'x'],
    ],
    ...[
      ['reply', plan, '--body', 'yes'],
      ['withdraw', ids.at(-1)!],
    ],
    ...[
      ['check'],
      ['inbox'],
      ['inbox', '--all'],
      ['read', plan],
      ['count'],
      ['show', question],
      ['thread', answer],
    ],
    ...[['sent'], ['search', 'task'], ['dead'], ['wait', '--timeout', '1ms'], ['log'], ['log', '--json']],
    ...[
      ['ack', plan],
      ['claim', other],
      ['start', plan],
      ['done', plan],
      ['fail', plan, '--reason', 'no'],
    ],
    ...[['release', other], ['archive', news], ['retry', task], ['owed'], ['ask', 'bob', '--subject', 'x']],
    ...[['verify'], ['verify', '--deep'], ['rebuild'], ['stats'], ['archive-old', '--dry-run'], ['export']],
    ...[['config'], ['doctor'], ['prompt'], ['show', urgent]],
  ]
}

interface Ran {
  code: number | string | null
  error: string
  stderr: string
}

const run = (dir: string, words: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const args = [cli, ...words, '--space', dir, '--as', words[0] === 'join' ? 'dee' : 'ada', '--json']
    const env = { ...process.env, HOME: dir, NO_COLOR: '1' }
    execFile(process.execPath, args, { env, timeout: 120_000 }, (failed, stdout, stderr) => {
      const error = /"code":\s*"(\w+)"/.exec(`${stderr}${stdout}`)?.[1] ?? ''
      resolve({ code: failed === null ? 0 : (failed.code ?? failed.signal ?? null), error, stderr })
    })
  })

/** Answers that are about the record that is damaged. Everything else is as if nothing had happened. */
const aboutTheRecord = ['damaged', 'not_found', 'conflict', 'invalid', 'forbidden']

async function runAll(space: DamageSpace, base: string, trials: number) {
  const table = verbs(space.ids)
  const bytes = space.files.get(segment)!
  const usual = new Map<string, Ran>()
  const counts: Record<string, number> = {}
  const wrong: string[] = []
  const count = (what: string) => (counts[what] = (counts[what] ?? 0) + 1)
  const one = async (at: number, dir: string) => {
    const words = table[at % table.length]!
    const key = words.join(' ')
    if (!usual.has(key)) {
      layOut(space, dir)
      usual.set(key, await run(dir, words))
    }
    const bit = (at * 104_729) % (bytes.length * 8)
    const isKept = Math.floor(at / table.length) % 2 === 0
    layOut(space, dir, {
      without: (name) => !isKept && name.startsWith('index'),
      changed: { [segment]: flipped(bytes, bit) },
    })
    const { code, error, stderr } = await run(dir, words)
    const same = usual.get(key)!
    const isExpected = words[0] === 'verify' ? code === 1 : code === same.code && error === same.error
    const isDoctor = words[0] === 'doctor' && (code === 0 || code === 1)
    if (isExpected || isDoctor) count('as usual')
    else if (typeof code === 'number' && code < 128 && aboutTheRecord.includes(error)) count(error)
    else wrong.push(`mailbox ${key}, bit ${bit & 7} of byte ${bit >> 3}: ${code} ${error}\n${stderr}`)
    if (/\n\s+at |panicked/.test(stderr)) wrong.push(`mailbox ${key}: ${stderr}`)
  }
  const lane = async (first: number) => {
    for (let at = first; at < trials; at += 2) await one(at, join(base, `lane-${first}`))
  }
  await Promise.all([lane(0), lane(1)])
  return { counts, verbs: table.length, wrong }
}

describe('the command line, with one flipped bit in the journal', () => {
  it(
    'has every verb work, and none abort',
    async () => {
      const base = memoryDir()
      onTestFinished(() => rmSync(base, { recursive: true, force: true }))
      const space = await buildDamageSpace(join(base, 'whole'))
      const trials = inStorm(2_000, 6)
      const { wrong, ...found } = await runAll(space, base, trials)
      if (isStorm) {
        console.log(`verbs: ${JSON.stringify({ trials, ...found })}`)
      }
      expect(wrong.slice(0, 5)).toEqual([])
    },
    campaignMs,
  )
})
