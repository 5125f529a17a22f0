/** A process with a space of many agents: sends to one or to all of them, and reads as each of them. */
import { serve } from './child.mjs'
import { loadLibrary } from './library.mjs'
import { createPool } from './messages.mjs'
import { Samples, summarize } from './stats.mjs'

const next = createPool(3)
let space
let sender
let names

serve({
  /** Agents join without waiting for the disk; everything after that is durable. */
  async open({ dir, agents }) {
    const { openSpace } = await loadLibrary()
    names = Array.from({ length: agents }, (_, i) => `agent ${i}`)
    const making = await openSpace({ dir, settings: { durability: 'os' } })
    await Promise.all(['ada', ...names].map((name) => making.join(name)))
    await making.close()
    space = await openSpace({ dir })
    sender = await space.mailbox('ada', { join: false })
  },

  /** To one and to all by turns, five and five: whatever the machine does, it does to both. */
  async send({ count }) {
    const direct = new Samples()
    const toAll = new Samples()
    for (let i = 0; i < 2 * count; i++) {
      const { subject, body, priority } = next()
      const all = i % 10 >= 5
      const started = performance.now()
      if (all) await sender.broadcast({ subject, body, priority })
      else await sender.send({ to: names[i % names.length], subject, body, priority })
      const samples = all ? toAll : direct
      samples.add(performance.now() - started)
    }
    return { direct: summarize(direct.take()), toAll: summarize(toAll.take()) }
  },

  /** Up to 100 agents look at what they have and then take it; `count` messages to each, or to all. */
  async read({ toAll, count }) {
    const some = names.slice(0, 100)
    for (let i = 0; i < count; i++) {
      const { subject, body } = next()
      if (toAll) await sender.broadcast({ subject, body })
      else await Promise.all(some.map((name) => sender.send({ to: name, subject, body })))
    }
    const verbs = {
      count: async (mailbox) => (await mailbox.count()).unread,
      inbox: async (mailbox) => (await mailbox.inbox({ unread: true })).messages.length,
      check: async (mailbox) => (await mailbox.check({ budgetTokens: 1_000_000 })).messages.length,
    }
    const mailboxes = await Promise.all(some.map((name) => space.mailbox(name, { join: false })))
    const costs = {}
    for (const [verb, work] of Object.entries(verbs)) {
      // Looking can be warmed up; taking happens once.
      if (verb !== 'check') for (const mailbox of mailboxes) await work(mailbox)
      const samples = new Samples()
      for (const mailbox of mailboxes) {
        const started = performance.now()
        const found = await work(mailbox)
        samples.add(performance.now() - started)
        if (found !== count) throw new Error(`${verb} found ${found} of ${count}`)
      }
      costs[verb] = summarize(samples.take())
    }
    return costs
  },

  close: () => space.close(),
})
