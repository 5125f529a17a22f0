import { describe, expect, it, onTestFinished } from 'vitest'
import { noticeOf } from '../../src/conversation/notice.ts'
import type { Entry } from '../../src/mod.ts'
import { boxesTo } from '../../src/model/address.ts'
import { type Running, startProcess } from '../helpers/processes.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempSpace } from '../helpers/temp.ts'
import { letPass } from '../helpers/wait.ts'
import { boxWith, journalOf } from './stage.ts'

const names = ['ada', 'bob', 'cy', 'dan', 'eve', 'lea']
const runMs = inStorm(30_000, 3_000)
const settings = {
  durability: 'os',
  'limits.ratePerMinute': 0,
  'limits.inbox': 0,
  maxAttempts: 3,
  ackTimeoutMs: 100,
  urgentAfterMs: 100,
  staleAfterMs: 200,
  deadLetterAfterMs: 200,
} as const

/** Plays the journal again: every change starts from where the one before has left off, nothing ends in silence. */
function replay(entries: readonly Entry[]) {
  const receipts = new Map<string, { state: string; box: string }>()
  const senders = new Map<string, string>()
  const ended = new Map<string, number>()
  const told = new Map<string, number>()
  const escalated = { said: 0, noted: 0 }
  const wrong: string[] = []
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1)
  for (const entry of entries) {
    if (entry.kind === 'message') {
      const { id, from, to, type, payload } = entry.message
      senders.set(id, from)
      for (const box of boxesTo(to)) receipts.set(`${id} ${box}`, { state: 'stored', box })
      if (from !== 'system') continue
      if (type === 'escalation') escalated.said++
      // Not delivered; or whoever read it does not settle it any more.
      const gone = (noticeOf({ payload })?.about ?? []).filter(({ kind }) =>
        /^(undelivered|ended)$/.test(kind),
      )
      for (const one of gone) count(told, `${one.id} ${one.to}`)
      if (gone.some((one) => senders.get(one.id) !== to[0]))
        wrong.push(`${entry.seq}: ${to[0]} is told of somebody else's mail`)
    }
    if (entry.kind !== 'receipt') continue
    for (const { id, owner, box, wasBox = box, was, state } of entry.changes) {
      const key = `${id} ${owner}`
      const before = receipts.get(key)
      if (before?.state !== was || (before !== undefined && before.box !== wasBox))
        wrong.push(
          `${entry.seq}: ${entry.step} of ${key}: ${was} in ${wasBox}, but it is ${JSON.stringify(before)}`,
        )
      receipts.set(key, { state, box })
      const served = entry.step === 'expired' && entry.note === 'it expired'
      if ((state === 'dead' || state === 'expired') && !served && senders.get(id) !== 'system')
        count(ended, key)
      if (entry.step === 'escalated' && entry.note?.endsWith('was told')) escalated.noted++
    }
  }
  return { wrong, ended, told, escalated }
}

describe('six agents do anything by chance, and one of them is killed every 300 ms', () => {
  it('and no change is out of step, nothing ends in silence, and the index is the journal', {
    timeout: runMs + 80_000,
  }, async () => {
    const { dir } = await boxWith(settings)
    const space = await tempSpace({ dir, settings })
    for (const name of names) await space.join(name)
    const start = (name: string) =>
      startProcess(new URL('chaos.mjs', import.meta.url), [
        ...[dir, name],
        JSON.stringify({ others: names, roles: name === 'lea' ? ['lead', 'r'] : ['r'], settings }),
      ])
    const running = new Map<string, Running>(names.map((name) => [name, start(name)]))
    onTestFinished(() => {
      for (const one of running.values()) one.kill('SIGKILL')
    })
    let kills = 0
    for (const end = performance.now() + runMs; performance.now() < end; ) {
      await letPass(300)
      const name = names[kills % names.length]!
      const victim = running.get(name)!
      if (!victim.lines.includes('ready')) continue
      victim.kill('SIGKILL')
      await victim.exit
      kills++
      running.set(name, start(name))
    }
    for (const one of running.values()) one.tell('enough')
    for (const one of running.values()) expect((await one.exit).code, one.stderr()).toBe(0)
    await space.runDue()

    const entries = await journalOf(space)
    const { wrong, ended, told, escalated } = replay(entries)
    expect.soft(wrong).toEqual([])
    expect.soft([...told].toSorted()).toEqual([...ended].toSorted())
    // One notice may tell of several letters, and nobody is told of one twice.
    expect.soft(escalated.said).toBeLessThanOrEqual(escalated.noted)
    const { problems, messages } = await space.verify({ deep: true })
    expect.soft(problems).toEqual([])
    console.log(
      `${messages} messages, ${entries.length} entries, ${kills} kills: ${ended.size} letters ended unread and ` +
        `${told.size} were told of, ${escalated.said} escalations`,
    )
  })
})
