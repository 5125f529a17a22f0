import { expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'

it('adds rules, tries them, sends by them, shows what they did and removes them', async () => {
  const box = await createBox('ada', 'bob')
  expect(await box.ok('route', 'list')).toContain('no rules')
  expect(await box.ok('route', 'add', 'type:broken_build', '--to', 'role:ci')).toBe(
    'rule 1: type:broken_build: to role:ci\n',
  )
  await box.ok(
    'route',
    'add',
    'from:bob',
    'subject:"out of disk"',
    '--to',
    'user',
    '--also',
    '--priority',
    'high',
  )
  const first = await box.json('route', 'add', '--at', '1', 'priority:low', '--to', 'bob')
  expect(first).toMatchObject({ route: { rule: 1, when: 'priority:low', to: ['bob'] } })

  const list = await box.ok('route', 'list')
  expect(list).toMatch(/^2 +type:broken_build +to role:ci$/m)
  expect(list).toMatch(/^3 +from:bob subject:"out of disk" +also to user, with priority high$/m)
  expect((await box.json('route', 'list')) as object).toMatchObject({
    routes: [{ rule: 1 }, { rule: 2, also: false }, { rule: 3, to: ['user'], also: true, priority: 'high' }],
  })
  const settings = await box.ok('config', 'list')
  expect(settings).toMatch(/^routes +3 rules +\[\]$/m)
  expect(settings).toMatch(/^ +2\. type:broken_build: to role:ci$/m)

  expect(await box.ok('route', 'test', 'ada', '--as', 'bob', '--type', 'broken_build')).toBe(
    'rule 2 (type:broken_build) takes it: it goes to role:ci (sent to ada), with priority normal\n',
  )
  expect(await box.ok('route', 'test', 'ada')).toBe('no rule takes it: it goes to ada\n')

  const { message, warnings } = await box.json(
    '--as',
    'bob',
    'send',
    'ada',
    '--type',
    'broken_build',
    '--body',
    'red',
  )
  expect(message).toMatchObject({ to: ['role:ci'], routed: { rule: 2, sentTo: ['ada'] } })
  expect(warnings).toEqual(['no agent has the role ci now; the message waits for one'])
  expect(await box.ok('show', message.id)).toMatch(/^routed +by rule 2 \(type:broken_build\), sent to ada$/m)
  expect(await box.ok('route', 'test', '--like', message.id)).toContain('rule 2 (type:broken_build) takes it')

  expect(await box.ok('route', 'remove', '2')).toBe('removed rule 2: type:broken_build\n')
  expect(await box.ok('route', 'test', '--like', message.id)).toBe('no rule takes it: it goes to ada\n')
  expect(await box.refused(3, 'route', 'remove', '7')).toMatchObject({ code: 'not_found' })
})

it('refuses a rule that says nothing, or that nobody can read', async () => {
  const box = await createBox()
  expect(await box.refused(2, 'route', 'add', 'type:x')).toMatchObject({
    hint: expect.stringContaining('--to'),
  })
  expect(await box.refused(2, 'route', 'add', 'concern:x', '--to', 'ada')).toMatchObject({
    hint: expect.stringContaining('tag:concern:x'),
  })
  const { stderr } = await box.run(['route', 'add', 'type:x', '--to', 'nobody'])
  expect(stderr).toContain('nobody has not joined yet')
})

it('keeps every rule of those that are added at once', async () => {
  const box = await createBox('ada')
  await Promise.all(['a', 'b', 'c'].map((type) => box.ok('route', 'add', `type:${type}`, '--to', 'ada')))
  expect((await box.ok('route', 'list')).match(/type:[abc]/g)?.sort()).toEqual(['type:a', 'type:b', 'type:c'])
})
