/** 6. One space for many machines: the journal on PostgreSQL, beside bare INSERTs into a table of the same server. */
import { Child } from '../lib/child.mjs'
import { sharedNow } from '../lib/clock.mjs'
import { duration, number, rate, table, times } from '../lib/format.mjs'
import { missingPostgres, startPostgres } from '../lib/postgres.mjs'
import { scratchDir } from '../lib/scratch.mjs'
import { median, summarize } from '../lib/stats.mjs'

export const name = 'machines'
export const title = 'Many machines'

const desks = [1, 5, 20]
/** How many agents of a machine send at the same time. */
const agents = 20
const manySpaces = 100
/** @type {{ way: string, label: string }[]} */
const ways = [
  { way: 'one', label: 'one space, one agent on each machine' },
  { way: 'team', label: `one space, ${agents} agents on each machine` },
  { way: 'spaces', label: `${manySpaces} spaces, one agent in each` },
  { way: 'table', label: 'bare INSERTs, one connection for each machine' },
  { way: 'connections', label: 'bare INSERTs, a connection for each agent' },
]

export const steps = ({ times: { peerRounds } }) => desks.length * ways.length * peerRounds + 2

export async function run(ctx) {
  const reason = await missingPostgres()
  if (reason !== undefined) throw new Error(reason)
  const { port, version, stop } = await startPostgres()
  const rates = []
  // Many processes start at once, and some have to wait for the processor.
  const url = (space) =>
    `postgres://bench@127.0.0.1:${port}/postgres?space=${space}&connect_timeout=60&timeout=60`
  try {
    for (const count of desks) {
      const fleets = []
      for (const { way } of ways) fleets.push(await fleetFor(way, count, port, url))
      for (let round = 0; round < ctx.times.peerRounds; round++)
        for (const fleet of round % 2 === 0 ? fleets : fleets.toReversed()) {
          ctx.progress.step(`${count} × ${fleet.way}`)
          fleet.turns.push(await turnOf(fleet.children, ctx.times))
        }
      for (const { way, turns, children } of fleets) {
        const latencyMs = summarize(turns.flatMap(({ latencies }) => latencies))
        rates.push({ way, desks: count, rate: median(turns.map((turn) => turn.rate)), latencyMs })
        await end(children)
      }
    }
    ctx.progress.step('push from machine to machine')
    const push = await pushed(url('push'), ctx.times)
    ctx.progress.step('a page of an inbox')
    return { version, rates, push, inbox: await inboxes(url('inbox'), ctx.times) }
  } finally {
    await stop()
  }
}

async function end(children) {
  await Promise.all(children.map((child) => child.ask('close')))
  await Promise.all(children.map((child) => child.stop()))
}

/** Processes that stand for machines, each with copies of its own. */
async function fleetFor(way, count, port, url) {
  const children = Array.from({ length: count }, () => new Child('machine-there.mjs', `there-${way}`))
  const tableName = `mail_${way}_${count}`
  if (way === 'table' || way === 'connections') await createTable(port, tableName)
  const open = (child, at) => {
    if (way === 'table' || way === 'connections')
      return child.ask('open', {
        kind: 'table',
        port,
        table: tableName,
        inFlight: way === 'table' ? 1 : agents,
      })
    const each = way === 'spaces' ? manySpaces / count : 1
    const urls = Array.from({ length: each }, (_, n) =>
      url(`${way}-${count}-${way === 'spaces' ? at * each + n : 0}`),
    )
    const dirs = urls.map(() => scratchDir('copy'))
    const inSpace = way === 'team' ? agents : 1
    return child.ask('open', { kind: 'mail', urls, dirs, agents: inSpace, name: `m${at}` })
  }
  // The first makes the tables.
  await open(children[0], 0)
  await Promise.all(children.slice(1).map((child, at) => open(child, at + 1)))
  return { way, children, turns: [] }
}

async function createTable(port, tableName) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'bench', database: 'postgres' })
  await client.connect()
  await client.query(
    `CREATE TABLE ${tableName} (seq BIGSERIAL PRIMARY KEY, box TEXT NOT NULL, unread BOOLEAN NOT NULL, line TEXT NOT NULL)`,
  )
  await client.query(`CREATE INDEX ON ${tableName} (box, unread, seq)`)
  await client.end()
}

async function turnOf(children, { warmupMs, ms }) {
  const startAt = sharedNow() + 20 + warmupMs
  const warm = { startAt: sharedNow() + 10, endAt: startAt - 10 }
  await Promise.all(children.map((child) => child.ask('run', warm)))
  const from = Math.max(startAt, sharedNow() + 10)
  const parts = await Promise.all(
    children.map((child) => child.ask('run', { startAt: from, endAt: from + ms })),
  )
  const sent = parts.reduce((sum, { messages }) => sum + messages, 0)
  return { rate: sent / (ms / 1_000), latencies: parts.flatMap(({ latencies }) => [...latencies]) }
}

async function pushed(url, { polls, gapMs }) {
  const [sender, receiver] = [new Child('machine-there.mjs', 'push'), new Child('machine-there.mjs', 'push')]
  const open = (child, name) =>
    child.ask('open', { kind: 'mail', urls: [url], dirs: [scratchDir('copy')], agents: 1, name })
  await open(sender, 'from')
  await open(receiver, 'to')
  const count = Math.min(polls, 400)
  const arriving = receiver.ask('receive', { count })
  const started = await sender.ask('send', { to: 'toa0', count, gapMs: Math.max(gapMs, 20) })
  const received = await arriving
  await end([sender, receiver])
  return summarize(received.map(({ number: n, at }) => at - started[n]))
}

/** The same mail, read on a machine of a database and from files. */
async function inboxes(url, { askRounds, askMs }) {
  const places = { there: { url, dir: scratchDir('copy') }, files: { dir: scratchDir('files') } }
  const readers = {}
  for (const [place, { url: at, dir }] of Object.entries(places)) {
    readers[place] = new Child('machine-there.mjs', `inbox-${place}`)
    await readers[place].ask('open', { kind: 'mail', urls: [at], dirs: [dir], agents: 1, name: 'm' })
    await readers[place].ask('fill', { count: 2_000 })
  }
  const found = { there: [], files: [] }
  for (let round = 0; round < askRounds; round++)
    for (const place of round % 2 === 0 ? ['there', 'files'] : ['files', 'there'])
      found[place].push(await readers[place].ask('ask', { ms: askMs }))
  await end(Object.values(readers))
  return { there: median(found.there), files: median(found.files) }
}

const rateOf = (rates, way, count) => rates.find((one) => one.way === way && one.desks === count)

export function report({ version, rates, push, inbox }) {
  const rows = ways.map(({ way, label }) => [
    label,
    ...desks.map((count) => rate(rateOf(rates, way, count).rate)),
    ...desks.map((count) => times(rateOf(rates, way, count).rate / rateOf(rates, 'table', count).rate)),
    duration(rateOf(rates, way, 20).latencyMs.p99),
  ])
  const head = [
    '',
    ...desks.map((count) => `${count} machines`),
    ...desks.map((count) => `${count}: to INSERTs`),
  ]
  return `${version} on this machine, with its own settings: every commit is synced. Each machine is a process with a copy of its own; messages of 700 bytes. A machine sends what its agents send at the same time in one call. "To INSERTs" compares with as many clients as machines, each inserting one row after the other into a table with an index.

${table([...head, 'p99 of a send, 20'], rows, `l${'r'.repeat(2 * desks.length + 1)}`)}

From \`send\` on one machine until \`wait\` on another has the message: p50 ${duration(push.p50)}, p99 ${duration(push.p99)} (${number(push.samples)} messages). A page of an inbox with 2,000 messages: ${duration(inbox.there)} on a machine of the database, which asks it first where the journal ends; ${duration(inbox.files)} from files.`
}

export function aims({ rates, push, inbox }) {
  const ratio = (way, count, to = 'table') => rateOf(rates, way, count).rate / rateOf(rates, to, count).rate
  const alone = (count) => `one agent on each machine ${times(ratio('one', count))}`
  return [
    ...desks.map((count) => ({
      aim: `${count} machines, one space: sends against bare INSERTs of as many clients`,
      atLeast: 0.5,
      measured: ratio('team', count),
      note: `${agents} agents on each; ${alone(count)}; against a connection for each agent ${times(ratio('team', count, 'connections'))}`,
    })),
    ...desks.map((count) => ({
      aim: `${count} machines, ${manySpaces} spaces: sends against bare INSERTs of as many clients`,
      atLeast: 0.7,
      measured: ratio('spaces', count),
    })),
    { aim: 'push from machine to machine, p50', atMost: 50, unit: 'ms', measured: push.p50 },
    { aim: 'a page of an inbox, against files', atMost: 1.3, measured: inbox.there / inbox.files },
  ]
}
