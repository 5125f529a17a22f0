import { loadLibrary } from '../lib/library.mjs'
import { flight20, flight64, one, processes5, processes20 } from '../lib/modes.mjs'
import { scratchDir } from '../lib/scratch.mjs'

/** Ourselves, with the settings as they come: durability `disk`. @type {import('./index.mjs').Peer[]} */
export const mailbox = [
  {
    name: 'mailbox',
    title: 'agent-mailbox',
    kind: 'ours',
    durable: true,
    durability: 'synced before the answer',
    modes: [one, flight20, flight64, processes5, processes20],
    start: async () => ({
      fresh: async () => scratchDir('mailbox'),
      stop: async () => {},
    }),
    async open(dir, _mode, next) {
      const { openSpace } = await loadLibrary()
      const space = await openSpace({ dir })
      await space.mailbox('bo')
      const ada = await space.mailbox(`ada ${process.pid}`)
      return {
        async send() {
          const { subject, body, priority } = next()
          await ada.send({ to: 'bo', subject, body, priority })
        },
        /** The index follows the journal at leisure. A question waits for it, so the work is ours all the same. */
        async settle() {
          await ada.count()
        },
        close: () => space.close(),
      }
    },
  },
]
