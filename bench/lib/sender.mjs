/** A process that sends: one contestant, one store, one mode at a time. */
import { peerByName } from '../peers/index.mjs'
import { serve } from './child.mjs'
import { sharedNow, waitUntil } from './clock.mjs'
import { createPool } from './messages.mjs'
import { Samples } from './stats.mjs'

/** With fewer answers than this in its time, a contestant is measured by the time of so many instead. */
const fewest = 5

let client
let mode
const next = createPool(process.pid)

serve({
  async open(input) {
    mode = input.mode
    client = await peerByName(input.peer).open(input.address, mode, next)
  },

  async warmUp({ endAt }) {
    await drive(endAt, () => {})
  },

  /** Counts what is answered between two moments of the shared clock. */
  async run({ startAt, endAt }) {
    const samples = new Samples()
    let calls = 0
    await waitUntil(startAt)
    if (mode.each !== undefined) return sendEach(startAt)
    await drive(endAt, (started, ended) => {
      if (ended > endAt) return
      calls++
      samples.add(ended - started)
    })
    if (calls >= fewest)
      return { messages: calls * mode.batch, ms: endAt - startAt, latencies: samples.take() }
    return slowly()
  },

  /** How long it took to finish what was put off. */
  async settle() {
    if (client.settle === undefined) return 0
    const started = sharedNow()
    await client.settle()
    return sharedNow() - started
  },

  async close() {
    await client.close()
  },
})

/** Sends what this process has to send, from the common start on. */
async function sendEach(startAt) {
  const samples = new Samples()
  for (let n = 0; n < mode.each; n++) {
    const started = sharedNow()
    await client.send()
    samples.add(sharedNow() - started)
  }
  return { messages: mode.each, ms: sharedNow() - startAt, latencies: samples.take() }
}

async function slowly() {
  const samples = new Samples()
  const startAt = sharedNow()
  for (let i = 0; i < fewest; i++) {
    const started = sharedNow()
    await client.send()
    samples.add(sharedNow() - started)
  }
  return { messages: fewest * mode.batch, ms: sharedNow() - startAt, latencies: samples.take() }
}

async function drive(until, onDone) {
  if (client.sync) {
    for (let started = sharedNow(); started < until; started = sharedNow()) {
      client.send()
      onDone(started, sharedNow())
    }
    return
  }
  const loop = async () => {
    for (let started = sharedNow(); started < until; started = sharedNow()) {
      await client.send()
      onDone(started, sharedNow())
    }
  }
  await Promise.all(Array.from({ length: mode.inFlight }, loop))
}
