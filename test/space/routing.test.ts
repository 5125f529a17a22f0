import { describe, expect, onTestFinished, test } from 'vitest'
import { fence, openSpace, toMarkdown } from '../../src/mod.ts'
import type { Route } from '../../src/model/routes.ts'
import { writeSetting } from '../../src/space/settings.ts'
import { stageHub } from '../helpers/hub.ts'
import { subjects } from '../helpers/scene.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

const routes: Route[] = [
  { when: 'type:broken_build', to: 'role:ci' },
  { when: 'from:bob priority:urgent', to: 'lea', also: true },
]

describe('a routing rule of a space', () => {
  test('gives mail to others, who see who it was for', async () => {
    const dir = tempDir()
    await (await tempSpace({ dir })).close()
    writeSetting(dir, 'routes', routes)
    const space = await tempSpace({ dir })
    const [ada, bob] = [await space.mailbox('ada'), await space.mailbox('bob')]
    const cy = await space.mailbox('cy', { join: { roles: ['ci'] } })
    const sent = await bob.send({ to: 'ada', type: 'broken_build', subject: 'red' })
    expect(sent).toMatchObject({ to: ['role:ci'], warnings: [] })
    expect((await ada.check()).messages).toEqual([])
    const [red] = (await cy.check()).messages
    expect(red).toMatchObject({
      subject: 'red',
      routed: { rule: 1, when: 'type:broken_build', sentTo: ['ada'] },
    })
    const line = 'by rule 1 (type:broken_build), sent to ada'
    expect(toMarkdown(red!)).toContain(`**Routed:** ${line}`)
    expect(fence(red!)).toContain(`routed: ${line}`)
    expect((await space.show(sent.id)).message.routed).toMatchObject({ rule: 1 })
    expect((await bob.search('to:role:ci')).messages).toHaveLength(1)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  test('is not for senders to claim', async () => {
    const space = await tempSpace({ settings: { routes } })
    await space.mailbox('ada')
    const bob = await space.mailbox('bob')
    const forged = { to: 'ada', routed: { rule: 9, when: 'x', sentTo: ['user'] } }
    await expect(bob.send(forged)).rejects.toMatchObject({ code: 'invalid' })
  })

  test('holds over HTTP and for the remote client', async () => {
    const stage = await stageHub({ open: { settings: { routes } } })
    const { space } = stage
    await space.mailbox('ada')
    await space.mailbox('bob')
    const lea = await space.mailbox('lea')
    const token = stage.agentToken('bob')
    const body = { to: 'ada', subject: 'over HTTP', priority: 'urgent' }
    const { json } = await stage.ask('/api/mailboxes/bob/send', { token, body })
    expect(json).toMatchObject({ to: ['ada', 'lea'], routed: { rule: 2, sentTo: ['ada'] } })
    const remote = await openSpace({ url: stage.url, token })
    onTestFinished(() => remote.close())
    const bob = await remote.mailbox('bob')
    await bob.send({ to: 'ada', subject: 'remote', priority: 'urgent' })
    expect(subjects(await lea.check())).toEqual(['over HTTP', 'remote'])
  })

  test('lets an answer reach whoever asked, and keeps what its recipients pass on', async () => {
    const space = await tempSpace({ settings: { routes: [{ when: 'to:*', to: 'lea' }] } })
    const ada = await space.mailbox('ada')
    const bob = await space.mailbox('bob')
    const lea = await space.mailbox('lea')
    const question = await bob.send({ to: 'ada', subject: 'why', awaitingResponse: true })
    expect(question.to).toEqual(['lea'])
    await lea.check()
    expect((await lea.send({ to: 'ada', subject: 'bob asks why' })).to).toEqual(['ada'])
    await lea.reply(question.id, { body: 'because' })
    expect(subjects(await bob.check())).toEqual(['Re: why'])
    expect(subjects(await ada.check())).toEqual(['bob asks why'])
  })

  test('can be tried without sending anything', async () => {
    const space = await tempSpace({ settings: { routes } })
    await space.mailbox('ada')
    await space.mailbox('bob')
    const end = await space.lastSeq()
    expect(await space.testRoute('bob', { to: 'ada', priority: 'urgent' })).toEqual({
      ...{
        rule: 2,
        when: 'from:bob priority:urgent',
        sentTo: ['ada'],
        to: ['ada', 'lea'],
        priority: 'urgent',
      },
      warnings: ['lea has not joined yet; the message waits'],
    })
    expect(await space.testRoute('ada', { to: 'bob' })).toMatchObject({ rule: null, when: null, to: ['bob'] })
    expect(await space.testRoute('ada', { type: 'broken_build' })).toMatchObject({
      rule: 1,
      sentTo: [],
      to: ['role:ci'],
    })
    expect(await space.testRoute('bob', { to: 'ada', type: 'broken_build', replyTo: 'x' })).toMatchObject({
      rule: null,
    })
    expect(await space.lastSeq()).toBe(end)
  })
})
