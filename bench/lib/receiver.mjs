/** A process that receives: by waiting, by watching, or by looking every half second. */
import { serve } from './child.mjs'
import { sharedNow, sleep } from './clock.mjs'
import { loadLibrary } from './library.mjs'

let space
let mailbox

const ways = {
  /** As an agent does: wait for one, which marks it as shown on the disk, and wait again. */
  async wait(count, onMessage) {
    for (let seen = 0; seen < count; seen++) onMessage(await mailbox.wait())
  },
  /** Looks only. */
  async watch(count, onMessage) {
    let seen = 0
    for await (const message of mailbox.watch()) {
      onMessage(message)
      if (++seen === count) return
    }
  },
  async poll(count, onMessage, everyMs) {
    for (let seen = 0; seen < count; ) {
      await sleep(everyMs)
      const { messages } = await mailbox.check({ budgetTokens: 10_000_000 })
      for (const message of messages) onMessage(message)
      seen += messages.length
    }
  },
}

serve({
  async open({ dir, name }) {
    const { openSpace } = await loadLibrary()
    space = await openSpace({ dir })
    mailbox = await space.mailbox(name)
  },

  /** Notes when each message was there; the sender wrote its own time into the payload. */
  async receive({ way, count, everyMs }) {
    const received = []
    await ways[way](
      count,
      (message) => received.push({ number: message.payload.number, at: sharedNow() }),
      everyMs,
    )
    return received
  },

  close: () => space.close(),
})
