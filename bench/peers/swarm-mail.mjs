import { flight64, one } from '../lib/modes.mjs'
import { missingPackage, packageVersion } from '../lib/packages.mjs'
import { scratchDir } from '../lib/scratch.mjs'

/** swarm-mail keeps everything in one database below the home directory, so each store gets a home. @type {import('./index.mjs').Peer[]} */
export const swarmMail = [
  {
    name: 'swarm-mail',
    title: 'swarm-mail',
    kind: 'peer',
    durable: true,
    durability: 'synced before the answer (SQLite, WAL, synchronous=FULL)',
    modes: [one, flight64],
    missing: () => missingPackage('swarm-mail'),
    start: async () => ({
      version: `swarm-mail ${packageVersion('swarm-mail')}`,
      fresh: async () => scratchDir('swarm'),
      stop: async () => {},
    }),
    async open(home, _mode, next) {
      process.env['HOME'] = home
      const { initSwarmAgent, sendSwarmMessage, closeAllSwarmMailLibSQL } = await import('swarm-mail')
      const projectPath = home
      await initSwarmAgent({ projectPath, agentName: 'ada' })
      await initSwarmAgent({ projectPath, agentName: 'bo' })
      return {
        async send() {
          const { subject, body, priority } = next()
          await sendSwarmMessage({
            projectPath,
            fromAgent: 'ada',
            toAgents: ['bo'],
            subject,
            body,
            importance: priority,
          })
        },
        close: () => closeAllSwarmMailLibSQL(),
      }
    },
  },
]
