import { expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'

it('takes a new user from joining to a finished thread', async () => {
  const box = await createBox()
  expect(await box.ok('join', 'ada', '--role', 'architect', '--tag', 'project:inscription')).toContain('ada')
  await box.ok('join', 'bob')

  const { message, warnings } = await box.json(
    ...['send', 'role:architect', '--as', 'bob', '--subject', 'Plan', '--body', 'Where do we begin?'],
    ...['--priority', 'urgent'],
  )
  expect(message).toMatchObject({ from: 'bob', to: ['role:architect'], priority: 'urgent', subject: 'Plan' })
  expect(warnings).toEqual([])

  const read = await box.ok('check', '--as', 'ada')
  expect(read).toContain('## [URGENT] Plan')
  expect(read).toContain('Where do we begin?')
  expect(await box.ok('check', '--as', 'ada')).toBe('no new mail\n')

  for (const verb of ['ack', 'start', 'done']) await box.ok(verb, message.id, '--as', 'ada')
  const shown = await box.ok('show', message.id)
  const rungs = ['stored', 'claimed', 'shown', 'acked', 'processing', 'completed', 'archived']
  for (const rung of rungs)
    expect(shown).toMatch(
      new RegExp(`^ +${rung} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d .* by (ada|bob)$`, 'm'),
    )
  for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(80)

  const answer = await box.json('reply', message.id, '--as', 'ada', '--body', 'With the model.')
  expect(answer.message).toMatchObject({
    to: ['bob'],
    threadId: message.id,
    replyTo: message.id,
    subject: 'Re: Plan',
  })
  const thread = await box.json('thread', answer.message.id)
  expect(thread.messages.map(({ id }) => id)).toEqual([message.id, answer.message.id])
})

it('reaches those who carry a tag and nobody else', async () => {
  const box = await createBox()
  await box.ok('join', 'ada', '--tag', 'project:inscription')
  await box.ok('join', 'bob')
  await box.ok('send', 'project:inscription', '--body', 'for the project')
  expect((await box.json('check', '--as', 'ada')).messages).toHaveLength(1)
  expect((await box.json('check', '--as', 'bob')).messages).toEqual([])
})

it('refuses a mistyped name and suggests the one that was meant', async () => {
  const box = await createBox()
  await box.ok('join', 'ada')
  const { code, stdout, stderr } = await box.run(['send', 'adda', '--body', 'hi'])
  expect(code).toBe(3)
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^error: no agent named "adda"\nhint: did you mean ada\?/)
})

it('lets role mail be taken once, handed back and taken by the next', async () => {
  const box = await createBox()
  await box.ok('join', 'ada', '--role', 'builder')
  await box.ok('join', 'bob', '--role', 'builder')
  const { message } = await box.json('send', 'builder', '--subject', 'Fix the build')
  expect(message.to).toEqual(['role:builder'])

  const taken = await box.json('claim', '--next', '--role', 'builder', '--ttl', '1h', '--as', 'ada')
  expect(taken).toMatchObject({
    message: { id: message.id },
    state: 'shown',
    claim: { agent: 'ada', attempt: 1 },
  })
  expect(await box.refused(5, 'claim', message.id, '--as', 'bob')).toMatchObject({ code: 'conflict' })
  expect(await box.json('claim', '--next', '--role', 'builder', '--as', 'bob')).toEqual({ message: null })

  await box.ok('release', message.id, '--as', 'ada')
  expect(await box.ok('claim', message.id, '--as', 'bob')).toContain('yours for the next 15 min')
})

it('puts failed mail back for another try', async () => {
  const box = await createBox()
  await box.ok('join', 'ada')
  const { message } = await box.json('send', 'ada', '--body', 'try this')
  await box.ok('fail', message.id, '--as', 'ada', '--reason', 'the tests do not pass')
  expect(await box.ok('show', message.id)).toContain('the tests do not pass')
  expect(await box.json('retry', message.id, '--as', 'ada')).toMatchObject({ state: 'stored' })
  expect((await box.json('check', '--as', 'ada')).messages).toHaveLength(1)
  expect(await box.json('done', message.id, '--as', 'ada', '--keep')).toMatchObject({ state: 'completed' })
  expect(await box.json('archive', message.id, '--as', 'ada')).toMatchObject({ state: 'archived' })
})

it('takes back what nobody has seen', async () => {
  const box = await createBox()
  await box.ok('join', 'ada')
  const { message } = await box.json('send', 'ada', '--body', 'oops')
  expect(await box.json('withdraw', message.id)).toMatchObject({ message: { id: message.id } })
  expect((await box.json('check', '--as', 'ada')).messages).toEqual([])
})

it('tells the person what happened while they were away', async () => {
  const box = await createBox('ada', 'lead')
  const plan = await box.ok(
    'plan',
    'submit',
    '--as',
    'ada',
    '--to',
    'lead',
    '--subject',
    'Two steps',
    '--body',
    'a',
    '--quiet',
  )
  await box.ok('plan', 'approve', plan.trim(), '--as', 'lead', '--feedback', 'Keep the tests green.')
  const help = await box.json(
    'help-request',
    '--as',
    'ada',
    '--to',
    'user',
    '--body',
    'Which port?',
    '--option',
    '80',
  )
  const digest = await box.json('digest', '--since', '2h')
  expect(digest.decided).toMatchObject([{ subject: 'Two steps', outcome: 'approved', by: 'lead' }])
  expect(digest.needsYou).toMatchObject([{ id: help.message.id, frees: ['ada'] }])
  expect(digest.blocked).toMatchObject([{ agent: 'ada', for: 'user' }])
  const text = await box.ok('digest')
  expect(text).toMatch(/Waiting for you \(1\)\n {2}.*Help wanted.*urgent, from ada, .*frees ada\) {2}#\d+/)
  expect(text).toMatch(/Decided \(1\)\n {2}.*Two steps.*: approved by lead, .*Keep the tests green/)
  await box.refused(2, 'digest', '--since', 'yesterday')
})

it('answers in a word: a suggested answer by its number, a plan with approve, work with done', async () => {
  const box = await createBox('ada', 'lead')
  const help = await box.json(
    ...[
      'help-request',
      '--as',
      'ada',
      '--to',
      'user',
      '--body',
      'Which port?',
      '--option',
      '80',
      '--option',
      'any',
    ],
  )
  expect(await box.ok('answer', help.message.id)).toMatch(/Help wanted.*\n {2}1 {2}80\n {2}2 {2}any\n/)
  expect(await box.refused(2, 'answer', help.message.id, '3')).toMatchObject({ hint: 'use 1, 2' })
  await box.ok('answer', help.message.id, '2', '--note', 'but not 22')
  expect((await box.json('check', '--as', 'ada')).messages).toMatchObject([
    { replyTo: help.message.id, body: 'any\n\nbut not 22' },
  ])
  const plan = await box.json(
    'plan',
    'submit',
    '--as',
    'ada',
    '--to',
    'lead',
    '--subject',
    'P',
    '--body',
    'b',
  )
  await box.ok('answer', plan.message.id, 'reject', '--as', 'lead', '--note', 'Too large.')
  expect((await box.json('show', plan.message.id)).receipts).toMatchObject([{ state: 'archived' }])
  const task = await box.json('task', 'ada', '--as', 'lead', '--subject', 'Lexer')
  await box.ok('answer', task.message.id, 'done', '--as', 'ada')
  const text = await box.json('send', 'ada', '--body', 'hello')
  expect(await box.refused(2, 'answer', text.message.id, 'approve', '--as', 'ada')).toMatchObject({
    hint: expect.stringContaining('reply ID --body'),
  })
})
