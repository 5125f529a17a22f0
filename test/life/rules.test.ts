import { describe, expect, it } from 'vitest'
import type { Rule } from '../../src/mod.ts'
import { expectRefused } from '../helpers/scene.ts'
import { boxWith, byHand, scene } from './stage.ts'

describe('`hub`: agents to the lead and back', () => {
  const crew = ['lea --role lead', 'w1 --role worker', 'w2 --role worker']

  it('worker to worker exits with 4 and names the rule', async () => {
    const box = await boxWith({}, ...crew)
    await box.ok('config', 'set', 'rules', 'hub')
    const { code, message, hint } = await box.refused(4, 'send', 'w2', '--body', 'x', '--as', 'w1')
    expect(code).toBe('not_permitted')
    expect(message).toMatch(/w1 may not write to w2 \(hub: /)
    expect(hint).toContain('role:lead')
    for (const to of ['role:worker', 'all', 'project:x'])
      expect((await box.refused(4, 'send', to, '--body', 'x', '--as', 'w1')).message).toContain('hub')
    expect((await box.refused(4, 'broadcast', '--body', 'x', '--as', 'w1')).message).toContain('hub')
  })

  it('worker to lead, lead to worker and anybody to user exit with 0', async () => {
    const box = await boxWith({ rules: 'hub' }, ...crew)
    const allowed = [
      ...[
        ['w1', 'lea'],
        ['w1', 'role:lead'],
        ['lea', 'w1'],
        ['lea', 'role:worker'],
        ['lea', 'all'],
      ],
      ...[
        ['w1', 'user'],
        ['lea', 'user'],
        ['user', 'w1'],
        ['user', 'all'],
      ],
    ] as const
    for (const [from, to] of allowed)
      expect(await box.run(['send', to, '--as', from, '--subject', 'hi']), `${from} to ${to}`).toMatchObject({
        code: 0,
      })
  })

  it('one forbidden address among several refuses the whole message', async () => {
    const { space } = await scene({ rules: 'hub' })
    await byHand(space, 'lea', 'lead')
    const w1 = await byHand(space, 'w1')
    await byHand(space, 'w2')
    await expectRefused(space, 'not_permitted', () => w1.send({ to: ['lea', 'w2'] }))
  })

  it('an answer goes by the same rule', async () => {
    const { space } = await scene({ rules: 'hub' })
    const lea = await byHand(space, 'lea', 'lead')
    const w1 = await byHand(space, 'w1')
    const w2 = await byHand(space, 'w2')
    const { id } = await lea.send({ to: ['w1', 'w2'] })
    await expect(w1.reply(id)).resolves.toMatchObject({ to: ['lea'] })
    await expectRefused(space, 'not_permitted', () => w2.reply(id, { to: 'w1' }))
  })

  it('a dead letter cannot be re-sent around it', async () => {
    const { space } = await scene({ rules: 'hub' })
    const w1 = await byHand(space, 'w1')
    await byHand(space, 'lea', 'lead')
    await byHand(space, 'w2')
    const { id } = await w1.send({ to: 'lea' })
    await space.leave('lea')
    await expectRefused(space, 'not_permitted', () => w1.resend(id, 'w2'))
  })

  it('which roles lead is a setting', async () => {
    const { space } = await scene({ rules: 'hub', leads: ['captain'] })
    const w1 = await byHand(space, 'w1', 'lead')
    await byHand(space, 'w2', 'captain')
    await byHand(space, 'w3')
    await expect(w1.send({ to: 'w2' })).resolves.toBeDefined()
    await expectRefused(space, 'not_permitted', () => w1.send({ to: 'w3' }))
  })

  it('what the system has to say is never refused', async () => {
    const { space } = await scene({ rules: 'hub' })
    const lea = await byHand(space, 'lea', 'lead')
    await byHand(space, 'w1')
    await lea.send({ to: 'w1' })
    await space.leave('w1')
    expect((await lea.check()).messages).toMatchObject([{ from: 'system' }])
  })
})

describe('`rules`: a list of who may write to whom', () => {
  const rules: Rule[] = [
    { from: 'mallory', to: '*', allow: false },
    { from: 'role:worker', to: 'role:reviewer' },
    { from: 'project:x', to: 'project:x' },
    { from: 'ada', to: 'bob' },
  ]

  it('the first that fits decides, and what none fits is refused', async () => {
    const { space } = await scene({ rules })
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'worker')
    const rev = await byHand(space, 'rev', 'reviewer')
    const mallory = await byHand(space, 'mallory', 'worker')
    await space.join('x1', { tags: ['project:x'] })
    await space.join('x2', { tags: ['project:x'] })
    const x1 = await space.mailbox('x1', { join: false })

    await ada.send({ to: 'bob' })
    await bob.send({ to: 'rev' })
    await bob.send({ to: 'role:reviewer' })
    await x1.send({ to: 'x2' })
    await x1.send({ to: 'project:x' })
    await rev.send({ to: 'user' })
    for (const [mailbox, to] of [
      ...([
        [bob, 'ada'],
        [rev, 'bob'],
        [ada, 'rev'],
        [x1, 'bob'],
        [ada, 'all'],
      ] as const),
    ]) {
      const error = await expectRefused(space, 'not_permitted', () => mailbox.send({ to }))
      expect(error.message).toContain('no rule allows it')
    }
    const error = await expectRefused(space, 'not_permitted', () => mallory.send({ to: 'rev' }))
    expect(error.message).toContain('from: mallory')
  })

  it('is set and read on the command line, and exits with 4', async () => {
    const box = await boxWith({}, 'ada', 'bob')
    await box.ok('config', 'set', 'rules', JSON.stringify([{ from: 'ada', to: 'bob' }]))
    expect(JSON.parse(await box.ok('config', 'get', 'rules', '--json'))).toEqual({
      rules: [{ from: 'ada', to: 'bob' }],
    })
    await box.ok('send', 'bob', '--body', 'x', '--as', 'ada')
    await box.refused(4, 'send', 'ada', '--body', 'x', '--as', 'bob')
    await box.refused(2, 'config', 'set', 'rules', 'closed')
    await box.refused(2, 'config', 'set', 'rules', '[{"from":"ada"}]')
  })
})

describe('`open` (default)', () => {
  it('lets everybody write to everybody', async () => {
    const { space } = await scene()
    const w1 = await byHand(space, 'w1')
    await byHand(space, 'w2')
    await expect(w1.send({ to: ['w2', 'all'] })).resolves.toBeDefined()
  })
})
