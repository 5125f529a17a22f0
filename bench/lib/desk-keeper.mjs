/** A process that stays in a space and becomes its desk, and others that write to the space all the time. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from './child.mjs'
import { loadPlainLibrary, unlimited } from './library.mjs'

let space
let bo
let writing

serve({
  async open({ dir }) {
    const { openSpace } = await loadPlainLibrary()
    // In the space, not in this process: commands and hooks ask only a desk that has the same settings.
    writeFileSync(join(dir, 'config.json'), JSON.stringify(unlimited), { mode: 0o600 })
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
