/** An agent in a process of its own that sends, reads and finishes mail at a steady pace, beside others. */
import { serve } from './child.mjs'
import { sleep } from './clock.mjs'
import { loadLibrary } from './library.mjs'
import { createPool } from './messages.mjs'

/** After so many sends it takes what has come. */
const readEvery = 10
let space
let mailbox
let next

serve({
  async open({ dir, name, seed }) {
    const { openSpace } = await loadLibrary()
    next = createPool(seed)
    space = await openSpace({ dir })
    mailbox = await space.mailbox(name)
  },

  /** Returns how much it has sent. */
  async work({ perSecond, seconds, agents }) {
    const started = performance.now()
    const passed = () => (performance.now() - started) / 1_000
    let sent = 0
    for (; passed() < seconds; sent++) {
      const { subject, body } = next()
      await mailbox.send({ to: `agent ${(sent * 7) % agents}`, subject, body })
      if (sent % readEvery === 0) {
        const { messages } = await mailbox.check()
        for (const { id } of messages) await mailbox.done(id)
      }
      await sleep(Math.max(0, sent / perSecond - passed()) * 1_000)
    }
    return sent
  },

  close: () => space.close(),
})
