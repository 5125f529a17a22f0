/**
 * Plays many machines against one PostgreSQL server, from one process: node bench/simulate.mjs [--machines 1000]
 * [--seconds 20] [--rate 20] [--senders 4]. Each machine has a connection and asks for the end of the journal as a real
 * one does: at once after something came, and less and less until every 35 ms. Senders are real: the library, with
 * copies of their own. It prints what a question, a send and a connection cost the server, and how long mail takes.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { sharedNow, sleep } from './lib/clock.mjs'
import { duration, number, rate } from './lib/format.mjs'
import { loadLibrary } from './lib/library.mjs'
import { createPool } from './lib/messages.mjs'
import { startPostgres } from './lib/postgres.mjs'
import { cleanUp, openScratch, scratchDir } from './lib/scratch.mjs'
import { summarize } from './lib/stats.mjs'

const { values } = parseArgs({
  options: {
    machines: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '20' },
    senders: { type: 'string', default: '4' },
  },
})
const [machines, seconds, perSecond, senders] = ['machines', 'seconds', 'rate', 'senders'].map((name) =>
  Number(values[name]),
)

/** The question of src/journal/postgres/server.ts, and the pauses of poller.ts. */
const question = `SELECT s.id, s.seq, s.sum, s.moved_to, s.files, mailbox.clock() AS clock, s.first_seq, s.first_segment,
  CASE WHEN s.seq > $2 THEN array_to_string(mailbox.lines_after(s.space, $2, 4194304), E'\\n') END AS missing
  FROM mailbox.spaces AS s WHERE s.space = $1`
const [shortestMs, longestMs] = [5, 35]

/** Processor time of the server and all its processes, in ms, and its memory without what they share, in MiB. */
function costOf(pid) {
  let [ms, mib] = [0, 0]
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(name) !== pid && Number(fields[1]) !== pid) continue
      // In ns. The ticks of stat are too long: each of a thousand connections works for less than one.
      ms += Number(readFileSync(`/proc/${name}/schedstat`, 'latin1').split(' ')[0]) / 1e6
      mib +=
        Number(/^Pss_Anon:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/smaps_rollup`, 'latin1'))?.[1] ?? 0) /
        1_024
    } catch {
      // It has ended.
    }
  }
  return { ms, mib }
}

class Machine {
  #client
  #seq = 0
  questions = 0
  seen = 0
  latencies = []

  static async connect(Client, port) {
    const machine = new Machine()
    machine.#client = new Client({ host: '127.0.0.1', port, user: 'bench', database: 'postgres' })
    await machine.#client.connect()
    return machine
  }

  async run(space, isOver) {
    let wait = shortestMs
    const ask = async () => (await this.#client.query(question, [space, this.#seq])).rows[0]
    this.#seq = Number((await ask()).seq)
    // Machines do not ask in step.
    await sleep(Math.random() * longestMs)
    while (!isOver()) {
      const { missing } = await ask()
      const now = sharedNow()
      this.questions++
      for (const line of missing?.split('\n') ?? []) {
        const { seq, kind, message } = JSON.parse(line)
        if (seq !== this.#seq + 1) throw new Error(`entry ${seq} came after ${this.#seq}`)
        this.#seq = seq
        if (kind !== 'message') continue
        this.seen++
        this.latencies.push(now - message.payload.at)
      }
      wait = missing === null ? Math.min(longestMs, wait * 1.5) : shortestMs
      await sleep(wait)
    }
  }

  close = () => this.#client.end()
}

async function main() {
  const { default: pg } = await import('pg')
  openScratch(process.env['TMPDIR'] ?? '/tmp')
  const { port, version, pid, stop } = await startPostgres({ connections: machines + 100 })
  const { openSpace } = await loadLibrary()
  const url = `postgres://bench@127.0.0.1:${port}/postgres?space=many`
  const spaces = []
  for (let n = 0; n < senders; n++) spaces.push(await openSpace({ url, dir: scratchDir('copy') }))
  const boxes = await Promise.all(spaces.map((space, n) => space.mailbox(`sender-${n}`)))
  const space = 1

  const before = costOf(pid)
  const all = []
  while (all.length < machines)
    all.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, machines - all.length) }, () => Machine.connect(pg.Client, port)),
      )),
    )
  let isOver = false
  const running = all.map((machine) => machine.run(space, () => isOver))
  await sleep(2_000)

  /** Runs for a while, and counts. */
  const phase = async (work) => {
    const asked = all.reduce((sum, { questions }) => sum + questions, 0)
    const [start, cost] = [sharedNow(), costOf(pid)]
    const done = await work(start + (seconds * 1_000) / 2)
    const ms = sharedNow() - start
    const after = costOf(pid)
    const questions = all.reduce((sum, one) => sum + one.questions, 0) - asked
    return { ms, done, questions, cpuMs: after.ms - cost.ms, mib: after.mib }
  }
  const quiet = await phase(async (until) => {
    await sleep(until - sharedNow())
    return 0
  })
  const next = createPool(1)
  const busy = await phase(async (until) => {
    const sent = await Promise.all(
      boxes.map(async (box) => {
        let count = 0
        for (; sharedNow() < until; count++) {
          const { subject, body } = next()
          await box.send({ to: box.name, subject, body, payload: { at: sharedNow() } })
          await sleep((senders / perSecond) * 1_000 * 2 * Math.random())
        }
        return count
      }),
    )
    // The last one reaches everybody.
    const wanted = sent.reduce((sum, count) => sum + count, 0)
    while (all.some(({ seen }) => seen < wanted)) await sleep(5)
    return wanted
  })
  isOver = true
  await Promise.all(running)
  await Promise.all(all.map(({ close }) => close()))
  await Promise.all(spaces.map((one) => one.close()))
  await stop()

  const latency = summarize(all.flatMap(({ latencies }) => latencies))
  const perQuestion = (1_000 * quiet.cpuMs) / quiet.questions
  const share = ({ cpuMs, ms }) => `${number((100 * cpuMs) / ms)} % of a core`
  const perSecondOf = ({ questions, ms }) => rate((1_000 * questions) / ms)
  console.log(`${machines} machines, ${version}, ${availableParallelism()} cores shared with the simulation
idle      ${perSecondOf(quiet)} questions, ${share(quiet)}, ${number(perQuestion)} µs of the server each
sending   ${rate((1_000 * busy.done) / busy.ms)} messages, ${perSecondOf(busy)} questions, ${share(busy)}
memory    ${number((quiet.mib - before.mib) / machines)} MiB for each connection
mail      to every machine once and in order (${number(latency.samples)} arrivals): p50 ${duration(latency.p50)}, p99 ${duration(latency.p99)}, longest ${duration(latency.max)}`)
}

try {
  await main()
} finally {
  await cleanUp()
}
