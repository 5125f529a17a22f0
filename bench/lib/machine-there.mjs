/** A process that stands for a machine: it sends into spaces on PostgreSQL, or inserts into a table. */
import { serve } from './child.mjs'
import { sharedNow, sleep, waitUntil } from './clock.mjs'
import { loadLibrary } from './library.mjs'
import { createPool, toLine } from './messages.mjs'
import { Samples } from './stats.mjs'

const pool = createPool(process.pid)
const next = () => {
  const { subject, body } = pool()
  return { subject, body }
}
/** What sends one message, for each that is in flight. */
let senders = []
let close = async () => {}

const spaces = {
  /** As many agents as there are in flight, spread over the spaces. */
  async mail({ urls, dirs, agents, name }) {
    const { openSpace } = await loadLibrary()
    const opened = await Promise.all(
      dirs.map((dir, at) => openSpace(urls[at] === undefined ? { dir } : { url: urls[at], dir })),
    )
    const boxes = await Promise.all(
      opened.map(async (space) => {
        const boxes = []
        for (let n = 0; n < agents; n++) boxes.push(await space.mailbox(`${name}a${n}`))
        return boxes
      }),
    )
    senders = boxes.flat().map((mailbox) => () => mailbox.send({ to: mailbox.name, ...next() }))
    close = async () => {
      await Promise.all(opened.map((space) => space.close()))
    }
    return boxes.flat()
  },

  /** As many connections as there are in flight. */
  async table({ port, table, inFlight }) {
    const { default: pg } = await import('pg')
    const clients = await Promise.all(
      Array.from({ length: inFlight }, async () => {
        const client = new pg.Client({ host: '127.0.0.1', port, user: 'bench', database: 'postgres' })
        await client.connect()
        return client
      }),
    )
    const insert = { name: 'one', text: `INSERT INTO ${table} (box, unread, line) VALUES ($1, true, $2)` }
    senders = clients.map((client) => () => client.query({ ...insert, values: ['bo', toLine(pool())] }))
    close = async () => {
      await Promise.all(clients.map((client) => client.end()))
    }
  },
}

let boxes = []

serve({
  async open({ kind, ...input }) {
    boxes = (await spaces[kind](input)) ?? []
  },

  async run({ startAt, endAt }) {
    const samples = new Samples()
    let messages = 0
    await waitUntil(startAt)
    const loop = async (send) => {
      for (let started = sharedNow(); started < endAt; ) {
        await send()
        const ended = sharedNow()
        if (ended <= endAt) {
          messages++
          samples.add(ended - started)
        }
        started = ended
      }
    }
    await Promise.all(senders.map(loop))
    return { messages, latencies: samples.take() }
  },

  /** Notes when each message was there. */
  async receive({ count }) {
    const received = []
    for (let seen = 0; seen < count; seen++) {
      const { payload } = await boxes[0].wait()
      received.push({ number: payload.number, at: sharedNow() })
    }
    return received
  },

  async send({ to, count, gapMs }) {
    const started = []
    for (let number = 0; number < count; number++) {
      started.push(sharedNow())
      await boxes[0].send({ to, ...next(), payload: { number } })
      await sleep(2 + Math.random() * 2 * gapMs)
    }
    return started
  },

  /** The mean time of a page of an inbox, in ms. */
  async ask({ ms }) {
    const until = sharedNow() + ms
    let asked = 0
    const started = sharedNow()
    for (; sharedNow() < until; asked++) await boxes[0].inbox({ limit: 50 })
    return (sharedNow() - started) / asked
  },

  async fill({ count }) {
    for (let n = 0; n < count; n += 100)
      await Promise.all(Array.from({ length: 100 }, () => boxes[0].send({ to: boxes[0].name, ...next() })))
  },

  close: () => close(),
})
