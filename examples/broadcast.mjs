// A lead tells its swarm that the priorities have changed (S0). The members come from the files of the
// swarm, swarms/dev/agents/*.md; two of them run, the third is expected and reads it when it comes.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { play } from './stage.mjs'

await play(async ({ space, home, start }) => {
  const swarm = join(home, 'swarms', 'dev')
  mkdirSync(join(swarm, 'agents'), { recursive: true })
  for (const name of ['architect', 'implementer', 'critic'])
    writeFileSync(join(swarm, 'agents', `${name}.md`), `# ${name}\n`)
  const members = await space.seedSwarm(swarm)
  assert.deepEqual(
    members.map(({ name }) => name),
    ['dev/architect', 'dev/critic', 'dev/implementer'],
  )

  const lead = await space.mailbox('lead', { join: { roles: ['lead'], tags: ['swarm:dev'] } })
  const outsider = await space.mailbox('outsider')
  const running = ['dev/architect', 'dev/implementer'].map((name) => start(name))
  await Promise.all(running.map((agent) => agent.says('ready')))

  const { to } = await lead.broadcast({
    swarm: 'dev',
    subject: 'Security first',
    body: 'The login comes before everything else now.',
    priority: 'urgent',
  })
  assert.deepEqual(to, ['broadcast:dev'])
  await Promise.all(running.map((agent) => agent.says('gathered', { subject: 'Security first' })))
  console.log('both who run have it')

  const late = start('dev/critic')
  await late.says('gathered', { subject: 'Security first' })
  console.log('the third has it as soon as it comes')

  assert.equal((await lead.count()).unread, 0, 'nobody receives their own broadcast')
  assert.equal((await outsider.count()).unread, 0, 'and nobody outside of the swarm')
})
