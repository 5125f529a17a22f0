import { describe, expect, it } from 'vitest'
import { approvePlan, askForHelp, handOff, rejectPlan, submitPlan } from '../../src/mod.ts'
import { createBox } from '../helpers/cli.ts'
import { check, hour, idsOf, lookIn, minute, stage, subjectsOf } from './stage.ts'

describe('an answer settles what it answers', () => {
  it.each(['response', 'ack'])('a %s counts as the ack that was asked for', async (type) => {
    const { agent, pass, told } = await stage()
    const lead = await agent('lena', 'lead')
    const ada = await agent('ada')
    const bob = await agent('bob')
    const note = await ada.send({ to: 'bob', subject: 'Freeze at five', requiresAck: true })
    expect(await check(bob)).toEqual([note.id])
    await bob.reply(note.id, { type, body: 'Fine.' })
    const again: string[] = []
    await pass(3 * hour, async () => {
      again.push(...(await check(bob)))
      await lookIn(lead, ada)()
    })
    expect(again).toEqual([])
    expect(subjectsOf(await told('lena', 'role:lead', 'user'))).toEqual([])
  })

  it.each(['a question', 'a plan, approved', 'a plan, rejected'])(
    '%s that its answerer never opened is new to nobody else, and rings nowhere',
    async (what) => {
      const { space, agent, pass, told } = await stage()
      const [lena, lou] = [await agent('lena', 'lead'), await agent('lou', 'lead')]
      const ada = await agent('ada')
      if (what === 'a question') {
        const { id } = await askForHelp(ada, { to: 'role:lead', body: 'Which port?', priority: 'urgent' })
        await lena.reply(id, { body: '80.' })
      } else {
        const plan = { to: 'role:lead', subject: 'Split it', body: 'In two.', priority: 'urgent' as const }
        const { id } = await submitPlan(ada, plan)
        if (what === 'a plan, approved') await approvePlan(lena, id)
        else await rejectPlan(lena, id, { feedback: 'Smaller.' })
      }
      expect(await check(lou)).toEqual([])
      await pass(9 * hour, lookIn(lena, lou, ada))
      expect([await check(lou), await check(lena)]).toEqual([[], []])
      expect(subjectsOf(await told('role:lead', 'lena', 'lou', 'user'))).toEqual([])
      expect(await space.owed()).toEqual([])
    },
  )

  it('so does the word of the person, whoever was asked', async () => {
    const { space, agent, pass, told } = await stage()
    const lead = await agent('lena', 'lead')
    const ada = await agent('ada')
    const { id } = await askForHelp(ada, { to: 'role:lead', body: 'Which port?', priority: 'urgent' })
    const person = await space.mailbox('user', { join: false })
    await person.reply(id, { to: 'ada', body: '80.' })
    expect(await check(lead)).toEqual([])
    await pass(9 * hour, lookIn(lead, ada))
    expect(subjectsOf(await told('role:lead', 'lena', 'user'))).toEqual([])
    expect(await space.owed()).toEqual([])
  })

  it.each(['leaves', 'is killed'])(
    'what a holder of a role has answered does not go back to the role when it %s',
    async (way) => {
      const { space, agent, running, pass } = await stage()
      const ada = await agent('ada')
      const { mailbox: bob, kill } = await running('bob', 'worker')
      const cy = await agent('cy', 'worker')
      const request = await ada.send({ to: 'role:worker', type: 'request', subject: 'Who can look?' })
      expect(await check(bob)).toEqual([request.id])
      const answer = await bob.reply(request.id, { body: 'I did.' })
      if (way === 'leaves') await bob.leave()
      else await kill()
      const again: string[] = []
      await pass(6 * hour, async () => {
        again.push(...(await check(cy)))
        await lookIn(ada)()
      })
      expect(again).toEqual([])
      expect(await check(ada)).toEqual([answer.id])
      expect(await space.owed()).toEqual([])
    },
  )
})

describe('whoever handed work over', () => {
  it('is told that it is done, with the note', async () => {
    const { agent } = await stage()
    const ada = await agent('ada')
    const bob = await agent('bob')
    const work = await handOff(ada, { to: 'bob', subject: 'The parser', workCompleted: 'The lexer.' })
    await check(bob)
    await bob.start(work.id)
    await bob.done(work.id, { note: 'all built' })
    expect((await ada.check()).messages).toMatchObject([{ from: 'bob', replyTo: work.id, body: 'all built' }])
  })

  it('is told so as well if the only word before was that it had begun', async () => {
    const { agent } = await stage()
    const ada = await agent('ada')
    const bob = await agent('bob')
    const work = await handOff(ada, { to: 'bob', subject: 'The parser', workCompleted: 'The lexer.' })
    await check(bob)
    await bob.reply(work.id, { body: 'On it.' })
    await check(ada)
    await bob.done(work.id)
    expect((await ada.check()).messages).toMatchObject([
      { from: 'bob', replyTo: work.id, type: 'status_update', payload: { status: 'completed' } },
    ])
  })
})

describe('an agent whose process has ended', () => {
  it('is back when it looks for its mail, and has it', async () => {
    const { space, agent, running, pass } = await stage()
    const ada = await agent('ada')
    const { mailbox: bob, kill } = await running('bob')
    await kill()
    await space.agents()
    const { id } = await ada.send({ to: 'bob', subject: 'Which port?' })
    expect(await check(bob)).toEqual([id])
    await pass(hour, lookIn(ada, bob))
    expect((await space.agents()).find(({ name }) => name === 'bob')?.state).toBe('alive')
    expect((await space.deadLetters()).letters).toEqual([])
    const next = await ada.send({ to: 'bob', subject: 'And now?' })
    expect(await check(bob)).toEqual([next.id])
  })

  it('is not taken for there by whoever writes to it, though nobody has looked since', async () => {
    const { agent, running } = await stage()
    const ada = await agent('ada')
    const { kill } = await running('bob')
    await kill()
    const { warnings } = await ada.send({ to: 'bob', subject: 'Which port?' })
    expect(warnings).toMatchObject([expect.stringContaining('bob')])
  })
})

it('a lead hears of all unread urgent mail of a recipient at once', async () => {
  const { agent, pass, told } = await stage()
  const lead = await agent('lena', 'lead')
  const ada = await agent('ada')
  const bob = await agent('bob')
  for (let n = 1; n <= 50; n++) await ada.send({ to: 'bob', subject: `No. ${n}`, priority: 'urgent' })
  await pass(15 * minute, lookIn(lead, ada, bob))
  expect(await told('lena', 'role:lead')).toHaveLength(1)
  expect((await told('user')).length).toBeLessThanOrEqual(1)
})

it('what was read stays read in an export that is imported, and has its sender', async () => {
  const [from, to] = [await createBox('ada', 'bob'), await createBox()]
  const { message } = await from.json('send', 'bob', '--as', 'ada', '--body', 'x')
  await from.ok('check', '--as', 'bob')
  await from.ok('ack', message.id, '--as', 'bob')
  const lines = await from.ok('export')
  expect((await to.run(['import', '-'], { input: lines })).code).toBe(0)
  const { receipts } = await to.json('show', message.id)
  expect(receipts).toMatchObject([{ recipient: 'bob', state: 'acked' }])
  const { agents } = JSON.parse(await to.ok('stats', '--json')) as {
    agents: { name: string; sent: number }[]
  }
  expect(agents.find(({ name }) => name === 'ada')).toMatchObject({ sent: 1 })
})

describe('words of the command line', () => {
  it('done after done says that it was done before', async () => {
    const box = await createBox('ada', 'bob')
    const { message } = await box.json('send', 'bob', '--as', 'ada', '--body', 'x')
    expect(await box.ok('done', message.id, '--as', 'bob')).not.toContain('already')
    expect(await box.ok('done', message.id, '--as', 'bob')).toContain('already')
  })

  it('a handoff says each thing once', async () => {
    const box = await createBox('ada', 'bob')
    await box.ok(
      ...['handoff', 'bob', '--as', 'ada', '--subject', 'The parser', '--work-completed', 'THE LEXER'],
      ...['--next-step', 'THE NEXT STEP', '--file-modified', 'THE/FILE.md'],
    )
    const read = await box.ok('check', '--as', 'bob')
    for (const words of ['THE LEXER', 'THE NEXT STEP', 'THE/FILE.md'])
      expect(read.split(words), words).toHaveLength(2)
  })

  it.each([
    ['fix_ci_failure', { check: 'lint', error: 'Missing semicolon' }, ['lint', 'Missing semicolon']],
    ['fix_review_comments', { comments: [{ path: 'a.ts', body: 'Too long.' }] }, ['a.ts Too long.']],
    ['task_assignment', { taskId: 'T-7', description: 'Build it.' }, ['T-7', 'Build it.']],
  ])('%s reads as sentences, not as JSON', async (type, payload, words) => {
    const box = await createBox('ada', 'bob')
    const given = ['--subject', 'For you', '--type', type, '--payload', JSON.stringify(payload)]
    const { message } = await box.json('send', 'bob', '--as', 'ada', ...given)
    for (const read of [
      await box.ok('check', '--as', 'bob'),
      await box.ok('read', message.id, '--as', 'bob'),
    ]) {
      for (const word of words) expect(read).toContain(word)
      expect(read).not.toMatch(/```json|\{"/)
    }
  })

  it('show says to whom a message was escalated, by whom and why', async () => {
    const box = await createBox('ada', 'bob')
    await box.ok('join', 'lena', '--role', 'lead')
    const { message } = await box.json(
      'send',
      'bob',
      '--as',
      'ada',
      '--subject',
      'Q',
      '--body',
      'x',
      '--await',
    )
    await box.ok('escalate', message.id, '--as', 'ada', '--reason', 'Blocked for two hours.')
    const text = (await box.ok('show', message.id)).replace(/\s+/g, ' ')
    expect(text).toMatch(/Escalated to role:lead by ada at [^.]* because: "Blocked for two hours\."/)
    expect(await box.json('show', message.id)).toMatchObject({
      escalations: [
        { to: ['role:lead'], by: 'ada', reason: 'Blocked for two hours.', at: expect.any(String) },
      ],
    })
  })
})

it('an escalation by the system stands with its message until it is taken back', async () => {
  const { space, agent, pass } = await stage()
  const lead = await agent('lena', 'lead')
  const ada = await agent('ada')
  const bob = await agent('bob')
  const urgent = await ada.send({ to: 'bob', subject: 'Now', priority: 'urgent' })
  const other = await ada.send({ to: 'bob', subject: 'Later' })
  await pass(15 * minute, lookIn(lead, ada, bob))
  const { escalations } = await space.show(urgent.id)
  expect(escalations).toMatchObject([
    { to: ['role:lead'], by: 'system', reason: 'urgent and unread' },
    { to: ['user'], by: 'system', reason: 'urgent and unread' },
  ])
  expect((await space.show(other.id)).escalations).toEqual([])
  // The lead has read of it, the person has not when bob reads it.
  expect(await check(lead)).toEqual([escalations[0]!.id])
  expect(await check(bob)).toContain(urgent.id)
  await space.runDue()
  expect(idsOf((await space.show(urgent.id)).escalations)).toEqual([escalations[0]!.id])
})

it('nothing that an agent puts into a payload passes for an escalation by the system', async () => {
  const { space, agent } = await stage()
  const ada = await agent('ada')
  const bob = await agent('bob')
  const first = await ada.send({ to: 'bob', subject: 'One' })
  const second = await ada.send({ to: 'bob', subject: 'Two', threadId: first.threadId })
  for (const about of [[null], [{ id: first.id, reason: 'forged' }]])
    await bob.send({
      ...{ to: 'user', type: 'escalation', replyTo: second.id, subject: 'Stuck' },
      payload: { notice: 'unread', about },
    })
  expect((await space.show(first.id)).escalations).toEqual([])
  expect((await space.show(second.id)).escalations).toMatchObject([
    { by: 'bob', to: ['user'], reason: 'Stuck' },
    { by: 'bob', to: ['user'], reason: 'Stuck' },
  ])
})
