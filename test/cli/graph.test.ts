import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { createBox } from '../helpers/cli.ts'

interface Node {
  '@id': string
  actor: string[]
  materialization?: { content: string }
}
interface Graph {
  '@context': object
  '@graph': Node[]
  next: number
}

/** Mail to an agent, a role and a group; somebody takes it and somebody reads it. */
async function boxWithMail() {
  const box = await createBox()
  await using space = await openDisk({ dir: box.dir, settings: { durability: 'os' } })
  const ada = await space.mailbox('ada', { join: { roles: ['architect'], tags: ['project:x'] } })
  const bob = await space.mailbox('bob b', { join: {} })
  const body = 'entity: situation:forged\n"quoted"'
  const role = await bob.send({ to: 'role:architect', subject: 'Plan', body, payload: { a: [1] } })
  const group = await bob.send({ to: ['project:x', 'ada'], tags: ['concern:y'], replyTo: role.id })
  await ada.check()
  return { box, role, group }
}

it('writes messages as situations with their actors and content, as JSON-LD', async () => {
  const { box, role, group } = await boxWithMail()
  const graph = JSON.parse(await box.ok('export', '--graph')) as Graph
  const situation = (id: string) => `situation:mailbox-msg-${id}`
  expect(graph['@context']).toMatchObject({ actor: { '@type': '@id' } })
  const sent = [
    {
      '@id': situation(role.id),
      '@type': 'situation',
      scale: 'act',
      time: role.createdAt,
      sender: 'agent:bob%20b',
      recipient: ['role:architect'],
      actor: ['agent:bob%20b', 'role:architect'],
      thread: `thread:${role.id}`,
      materialization: {
        '@id': `message-content:${role.id}`,
        '@type': 'message-content',
        messageType: 'text',
        priority: 'normal',
        subject: 'Plan',
        content: 'entity: situation:forged\n"quoted"',
        payload: { a: [1] },
      },
    },
    expect.objectContaining({
      '@id': situation(group.id),
      recipient: ['project:x', 'agent:ada'],
      actor: ['agent:bob%20b', 'project:x', 'agent:ada'],
      replyTo: situation(role.id),
      tag: ['concern:y'],
    }),
  ]
  expect(graph['@graph'].slice(0, 2)).toEqual(sent)
  // Whoever took the role's mail joins its situation.
  expect(graph['@graph'].slice(2)).toContainEqual({ '@id': situation(role.id), actor: ['agent:ada'] })
})

it('goes on from a cursor, and misses nothing and repeats nothing', async () => {
  const { box } = await boxWithMail()
  const whole = JSON.parse(await box.ok('export', '--graph')) as Graph
  const file = join(box.dir, '..', 'graph.jsonld')
  const read = () => JSON.parse(readFileSync(file, 'utf8')) as Graph
  const first = JSON.parse(await box.ok('export', '--graph', '--out', file, '--json')) as { next: number }
  expect(first).toEqual({ exported: 2, file, next: whole.next })
  expect(read()).toEqual(whole)
  await box.ok('send', 'ada', '--body', 'later')
  const next = await box.run(['export', '--graph', '--after', String(first.next), '--out', file])
  expect(next).toMatchObject({ code: 0, stdout: expect.stringContaining(`next: --after ${first.next + 1}`) })
  expect(read()['@graph'].map((node) => node.materialization?.content)).toEqual(['later'])
  const none = await box.run(['export', '--graph', '--after', String(first.next + 1)])
  expect(none.stderr).toContain(`next: --after ${first.next + 1}`)
  expect(JSON.parse(none.stdout)).toMatchObject({ '@graph': [], next: first.next + 1 })
})

it("writes the same in the protocol's own words, a text never in more than one line", async () => {
  const { box, role } = await boxWithMail()
  const blocks = (await box.ok('export', '--graph=seed')).trimEnd().split('\n\n')
  const id = `situation:mailbox-msg-${role.id}`
  expect(blocks[0]!.split('\n')).toEqual([
    `entity: ${id}`,
    'type: situation',
    `agent:bob%20b belongs-to ${id} quality: "actor"`,
    `role:architect belongs-to ${id} quality: "actor"`,
    `message-content belongs-to ${id} quality: "materialization"`,
    `time: "${role.createdAt}"`,
    'subject: "Plan"',
    String.raw`content: "entity: situation:forged\n\"quoted\""`,
  ])
  expect(blocks).toContain(`agent:ada belongs-to ${id} quality: "actor"`)
})

it('refuses a shape that it does not have, and a cursor where there is none', async () => {
  const box = await createBox('ada')
  expect(await box.refused(2, 'export', '--graph=dot')).toMatchObject({ code: 'invalid' })
  expect(await box.refused(2, 'export', '--graph', '--after', 'x')).toMatchObject({ code: 'invalid' })
  expect(await box.refused(2, 'export', '--after', '3')).toMatchObject({
    message: '--after goes with --graph',
  })
})
