/** A process that sends so many messages a second for so long, from one agent to another. */
import { serve } from './child.mjs'
import { sleep } from './clock.mjs'
import { loadLibrary } from './library.mjs'
import { createPool } from './messages.mjs'

const stepMs = 10
let space
let mailbox
const next = createPool(11)

serve({
  async open({ dir }) {
    const { openSpace } = await loadLibrary()
    space = await openSpace({ dir })
    mailbox = await space.mailbox('ada')
    await space.mailbox('bo')
    return space.lastSeq()
  },

  /** Whatever could not be sent in time is sent as soon as it can be. */
  async send({ perSecond, seconds }) {
    const started = performance.now()
    const all = perSecond * seconds
    let sent = 0
    const under = new Set()
    while (sent < all) {
      const due = Math.min(all, Math.floor(((performance.now() - started) / 1_000) * perSecond))
      for (; sent < due; sent++) {
        const { subject, body } = next()
        const payload = { sentAt: performance.timeOrigin + performance.now() }
        const one = mailbox.send({ to: 'bo', subject, body, payload }).then(() => under.delete(one))
        under.add(one)
      }
      await sleep(stepMs)
    }
    await Promise.all(under)
    return { sent, ms: performance.now() - started, end: await space.lastSeq() }
  },

  close: () => space.close(),
})
