/** A process that stays in a space and becomes its desk, and others that write to the space all the time. */
import { serve } from './child.mjs'
import { loadLibrary } from './library.mjs'

let space
let bo
let writing

serve({
  async open({ dir }) {
    const { openSpace } = await loadLibrary()
    space = await openSpace({ dir })
    bo = await space.mailbox('bo')
    await space.mailbox('ada')
    // One that stays for a second takes part.
    while (!space.core.desk.isDesk) await new Promise((resolve) => setTimeout(resolve, 20))
  },

  async mail({ to, priority }) {
    await bo.send({ to, priority, subject: 'Plan', body: 'hi' })
  },

  /** As much as ten agents that write every two seconds. */
  async startWriting() {
    writing = setInterval(() => void bo.send({ to: 'bo', subject: 'Status', body: 'going on' }), 200)
  },

  async close() {
    clearInterval(writing)
    await space.close()
  },
})
