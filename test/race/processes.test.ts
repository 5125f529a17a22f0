import { describe, expect, test } from 'vitest'
import { type Running, startScript } from '../helpers/processes.ts'
import { inStorm } from '../helpers/storm.ts'
import { isOnPostgres, tempSpace } from '../helpers/temp.ts'
import { isWithDesk } from '../helpers/with-desk.ts'

const script = (name: string) => new URL(name, import.meta.url)
const allReady = (processes: Running[]) => Promise.all(processes.map((one) => one.line('ready')))

/** What a process printed after a word, as JSON. */
async function told<T>(process: Running, word: string): Promise<T> {
  const line = await process.line(new RegExp(`^${word} `))
  return JSON.parse(line.slice(word.length + 1)) as T
}

/** What runs in `npm test` already, over something else. */
const isSample = isOnPostgres() || isWithDesk()

/** How many messages all of them want. */
const wanted = inStorm(500, isSample ? 20 : 150)

describe(`8 processes claim the same ${wanted} messages`, () => {
  test('and every message has exactly one winner', { timeout: 180_000 }, async () => {
    const space = await tempSpace()
    const sender = await space.mailbox('sender')
    const names = Array.from({ length: 8 }, (_, n) => `worker-${n}`)
    for (const name of names) await space.join(name, { roles: ['worker'] })
    const sent = await Promise.all(
      Array.from({ length: wanted }, (_, n) =>
        sender.send({ to: 'role:worker', subject: String(n), priority: n % 7 === 0 ? 'urgent' : 'normal' }),
      ),
    )
    const ids = sent.map(({ id }) => id)

    const claimers = names.map((name, n) =>
      startScript(script('claimer.mjs'), [space.dir, name, n % 2 === 0 ? 'next' : 'ids']),
    )
    await allReady(claimers)
    for (const claimer of claimers) claimer.tell(JSON.stringify(ids))
    const outcomes = await Promise.all(
      claimers.map((one) => told<{ won: string[]; lost: number }>(one, 'done')),
    )

    const winners = outcomes.flatMap(({ won }) => won)
    expect(winners.toSorted()).toEqual(ids.toSorted())
    const lost = outcomes.reduce((sum, one) => sum + one.lost, 0)
    expect(outcomes.filter((_, n) => n % 2 === 1).every((one) => one.won.length + one.lost === wanted)).toBe(
      true,
    )
    for (const [n, { won }] of outcomes.entries()) {
      for (const id of won)
        expect((await space.show(id)).receipts).toMatchObject([{ claimedBy: names[n], attempts: 1 }])
    }
    for (const name of names) expect((await (await space.mailbox(name)).count()).unread).toBe(0)
    expect((await space.verify({ deep: true })).problems).toEqual([])
    console.log(
      `${wanted} messages, 8 processes: ${winners.length} winners, ${lost} conflicts, won by each: ${outcomes.map(({ won }) => won.length).join(' ')}`,
    )
  })
})

/** How many send at once, and how many messages that makes. */
const crowd = inStorm(20, 8)
const each = inStorm(200, isSample ? 5 : 75)
const all = each * crowd

describe(`${crowd} processes send ${each} messages each at once`, () => {
  test(`and every reader sees the same ${all} in the same order`, { timeout: 180_000 }, async () => {
    const space = await tempSpace()
    await space.join('reader')
    const names = Array.from({ length: crowd }, (_, n) => `sender-${n}`)
    const senders = names.map((name) => startScript(script('sender.mjs'), [space.dir, name, `${each}`]))
    const live = ['follow', 'watch'].map((mode) =>
      startScript(script('reader.mjs'), [space.dir, mode, `${all}`]),
    )
    await allReady([...senders, ...live])
    for (const sender of senders) sender.tell('go')
    await Promise.all(senders.map((sender) => sender.line('done')))
    const late = startScript(script('reader.mjs'), [space.dir, 'inbox', `${all}`])
    const orders = await Promise.all([...live, late].map((reader) => told<string[]>(reader, 'order')))

    const [order] = orders as [string[], string[], string[]]
    expect(order).toHaveLength(all)
    expect(new Set(order).size).toBe(all)
    for (const other of orders) expect(other).toEqual(order)
    for (const name of names) {
      const own = order.filter((subject) => subject.startsWith(`${name} `))
      expect(own).toEqual(Array.from({ length: each }, (_, n) => `${name} ${n}`))
    }

    const report = await space.verify({ deep: true })
    expect(report).toMatchObject({ messages: all, torn: [], problems: [] })
    await space.rebuild()
    expect((await space.verify({ deep: true })).problems).toEqual([])
    expect((await (await space.mailbox('reader')).count()).unread).toBe(all)
    console.log(
      `${crowd} processes, ${report.messages} messages, ${report.entries} entries, 3 readers agree, index equal row for row`,
    )
  })
})
