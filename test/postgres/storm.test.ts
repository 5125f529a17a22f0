import { expect, it, onTestFinished } from 'vitest'
import { openSpace } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { hasPostgres, PostgresServer } from '../helpers/postgres.ts'
import { type Running, startScript } from '../helpers/processes.ts'
import { skipTest } from '../helpers/skip.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'

const script = new URL('worker.mjs', import.meta.url)

interface Machine {
  dir: string
  proxy: BreakingProxy
  url: string
}

/** What a process has said, by the first word of the line. */
const said = (all: readonly Running[], word: string): string[] =>
  all.flatMap(({ lines }) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1)),
  )

/**
 * Three machines, each with a copy and a way to the database of its own, and processes that send and claim on them,
 * while the server and the processes are killed and the ways are cut. What was acknowledged must be there once, what was
 * refused must not, and every machine must have the same.
 */
it('nothing acknowledged is lost or doubled through kills and cuts, and all machines have the same', async () => {
  if (!hasPostgres()) skipTest('needs PostgreSQL: run `apt-get install -y postgresql` as root')
  const faults = campaignSize('postgres', 200, 6)
  const campaign = new Campaign('postgres', faults)
  const server = await PostgresServer.create(tempDir())
  onTestFinished(() => server.stop('SIGQUIT'))
  const machines: Machine[] = await Promise.all(
    [1, 2, 3].map(async () => {
      const proxy = await BreakingProxy.to(server.port)
      const url = `postgres://tester@127.0.0.1:${proxy.port}/postgres?space=storm&timeout=4&connect_timeout=2`
      return { dir: tempDir(), proxy, url }
    }),
  )
  const each = inStorm(7, 1)
  const all: Running[] = []
  let born = 0
  const start = ({ url, dir }: Machine, name: string) => {
    const worker = startScript(script, [url, dir, name])
    all.push(worker)
    born++
    return worker
  }
  const seats = machines.flatMap((machine, m) =>
    Array.from({ length: each }, (_, n) => ({
      machine,
      name: `m${m}w${n}`,
      worker: start(machine, `m${m}w${n}`),
    })),
  )
  await Promise.all(seats.map(({ worker }) => worker.line('ready')))
  const counts = { servers: 0, writers: 0, cuts: 0 }
  for (let fault = 0; fault < faults; fault++) {
    const before = said(all, 'sent').length
    const seat = seats[fault % seats.length]!
    if (fault % 3 === 0) {
      counts.writers++
      seat.worker.kill('SIGKILL')
      seat.worker = start(seat.machine, seat.name)
    } else if (fault % 3 === 1) {
      counts.cuts++
      // In the middle of a commit, if there is one.
      seat.machine.proxy.cut()
      seat.machine.proxy.restore()
    } else {
      counts.servers++
      await server.stop('SIGQUIT')
      await server.start()
    }
    // Something gets through before the next fault.
    await expect
      .poll(() => said(all, 'sent').length, { timeout: 60_000, interval: 20 })
      .toBeGreaterThan(before + 3)
    campaign.progress(fault + 1, counts)
  }
  for (const { worker } of seats) worker.process.stdin!.end()
  await Promise.all(seats.map(({ worker }) => worker.line('over')))
  expect(said(all, 'trouble')).toEqual([])

  const spaces = await Promise.all(
    machines.map(async ({ url, dir }) => (await openSpace({ url, dir })) as DiskSpace),
  )
  for (const space of spaces) onTestFinished(() => space.close())
  const journals = await Promise.all(
    spaces.map(async (space) => {
      const entries = []
      for await (const { entry } of space.entries(0)) entries.push(entry)
      return entries
    }),
  )
  const [entries] = journals as [(typeof journals)[number]]
  for (const other of journals) expect(other).toEqual(entries)
  const stored = entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.from !== 'system' ? [entry.message.subject] : [],
  )
  const times = new Map<string, number>()
  for (const subject of stored) times.set(subject, (times.get(subject) ?? 0) + 1)
  expect([...times].filter(([, count]) => count > 1)).toEqual([])
  expect(said(all, 'sent').filter((subject) => !times.has(subject))).toEqual([])
  expect(said(all, 'refused').filter((subject) => times.has(subject))).toEqual([])
  const done = said(all, 'done')
  expect(new Set(done).size).toBe(done.length)
  for (const space of spaces) expect((await space.verify({ deep: true })).problems).toEqual([])
  const { servers, writers, cuts } = counts
  campaign.end({
    ...{ 'servers killed': servers, 'writers killed': writers, 'connections cut': cuts, processes: born },
    ...{ 'messages acknowledged': said(all, 'sent').length, 'lost or doubled': 0, 'done twice': 0 },
  })
})
