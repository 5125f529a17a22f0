import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { allActions, knownTypes } from '../../src/conversation/registry.ts'
import { assignTask, openSpace, reportCiFailure, type SendInput } from '../../src/mod.ts'
import { clockAt, expectRefused, hour, subjects, trio } from '../helpers/scene.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

/** A sender that TypeScript does not check. */
const untyped = (input: object): SendInput => input as SendInput

describe('a tag that is one word', () => {
  test('is a label on a message, and finds it', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const sent = await bob.send({
      to: 'ada',
      subject: 'Parser',
      tags: ['handoff', 'tag:handoff', 'concern:x'],
    })
    expect(sent.tags).toEqual(['handoff', 'concern:x'])
    await bob.send({ to: 'ada', subject: 'Other' })
    expect(subjects(await ada.inbox({ tag: 'handoff' }))).toEqual(['Parser'])
    expect(subjects(await ada.search('tag:handoff'))).toEqual(['Parser'])
  })

  test('on an agent is reached as tag:WORD, and never as a name', async () => {
    const space = await tempSpace()
    const { ada, bob, cy } = await trio(space)
    await ada.update({ addTags: ['frontend'] })
    await cy.update({ addTags: ['tag:frontend'] })
    const { to } = await bob.send({ to: 'tag:frontend', subject: 'For both' })
    expect(to).toEqual(['tag:frontend'])
    expect([await ada.inbox(), await cy.inbox()].map(subjects)).toEqual([['For both'], ['For both']])
    // The word alone is a name, and nobody has it yet.
    await expectRefused(space, 'unknown_recipient', () => bob.send({ to: 'frontend' }))
    const frontend = await space.mailbox('frontend')
    await bob.send({ to: 'frontend', subject: 'For one' })
    expect(subjects(await frontend.inbox())).toEqual(['For one'])
    expect(subjects(await ada.inbox())).toEqual(['For both'])
    // Nor is mail to the agent mail with the tag.
    expect(subjects(await frontend.inbox({ tag: 'frontend' }))).toEqual([])
    await ada.update({ removeTags: ['frontend'] })
    await bob.send({ to: 'tag:frontend', subject: 'For cy' })
    expect([await ada.inbox(), await cy.inbox()].map(subjects)).toEqual([[], ['For both', 'For cy']])
  })

  test('gives nobody the rights of an agent of that name', async () => {
    const rules = [{ from: 'lead', to: '*' }] as const
    const space = await tempSpace({ settings: { rules } })
    const { ada } = await trio(space)
    await ada.update({ addTags: ['lead'] })
    await expectRefused(space, 'not_permitted', () => ada.send({ to: 'bob' }))
  })

  test('lets the members of a group answer what it was asked', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await ada.update({ addTags: ['frontend'] })
    const { id } = await bob.send({ to: 'tag:frontend', type: 'status_request' })
    await ada.reply(id, { type: 'status_response', payload: { status: 'idle' } })
    expect(await bob.awaited()).toEqual([])
  })
})

describe('a message without a recipient', () => {
  test('reaches the holders of its namespaced tags, each once', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addTags: ['project:x', 'concern:y'] })
    await cy.update({ addTags: ['concern:y'] })
    for (const to of [undefined, [], '']) {
      const tags = ['project:x', 'concern:y', 'handoff']
      const sent = await bob.send({ ...(to === undefined ? {} : { to }), tags, subject: `to ${String(to)}` })
      expect(sent).toMatchObject({ to: ['project:x', 'concern:y'], tags })
    }
    const all = ['to undefined', 'to ', 'to ']
    expect([await ada.inbox(), await cy.inbox()].map(subjects)).toEqual([all, all])
  })

  test('and with a recipient is only labelled by them', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await cy.update({ addTags: ['project:x'] })
    expect(await bob.send({ to: 'ada', tags: ['project:x'] })).toMatchObject({ to: ['ada'] })
    expect([(await ada.inbox()).messages.length, (await cy.inbox()).messages.length]).toEqual([1, 0])
  })

  test('nor such a tag is refused', async () => {
    const space = await tempSpace()
    const { bob } = await trio(space)
    for (const input of [{}, { to: [] }, { tags: ['handoff'] }, { to: '', tags: ['handoff'] }]) {
      const error = await expectRefused(space, 'invalid', () => bob.send(input))
      expect(error).toMatchObject({
        message: 'the message has no recipient',
        hint: expect.stringContaining('project:x'),
      })
    }
  })
})

describe('a priority', () => {
  test('is a number from 1 to 4 as well, and is stored as a word', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const words = []
    for (const priority of [1, 2, 3, 4] as const)
      words.push((await bob.send({ to: 'ada', priority })).priority)
    expect(words).toEqual(['low', 'normal', 'high', 'urgent'])
    expect((await ada.inbox({ minPriority: 3 })).messages.map(({ priority }) => priority)).toEqual([
      'urgent',
      'high',
    ])
    expect((await ada.check({ minPriority: 4 })).messages).toHaveLength(1)
    expect(await assignTask(bob, { to: 'ada', subject: 'S', priority: 1 })).toMatchObject({ priority: 'low' })
    for (const priority of [0, 5, 1.5, '4', 'asap']) {
      const error = await expectRefused(space, 'invalid', () => bob.send(untyped({ to: 'ada', priority })))
      expect(error.hint).toContain('1 (low) to 4 (urgent)')
    }
    await expectRefused(space, 'invalid', () => ada.inbox({ minPriority: 5 as 4 }))
  })
})

describe('the end of a message', () => {
  test('may be given as a date', async () => {
    const clock = clockAt('2026-11-15T10:00:00.000Z')
    const { ada, bob } = await trio(await tempSpace({ now: clock.now }))
    const sent = await bob.send({ to: 'ada', expiresAt: '2026-11-15T12:00:00+01:00' })
    expect(sent.expiresAt).toBe('2026-11-15T11:00:00.000Z')
    expect((await ada.inbox()).messages).toHaveLength(1)
    clock.advance(hour)
    expect((await ada.inbox()).messages).toHaveLength(0)
  })

  test('is in the future, and is not given twice', async () => {
    const clock = clockAt('2026-11-15T10:00:00.000Z')
    const space = await tempSpace({ now: clock.now })
    const { bob } = await trio(space)
    for (const expiresAt of ['2026-11-15T10:00:00Z', '2020-01-01', '2999-01-01'])
      await expectRefused(space, 'invalid', () => bob.send({ to: 'ada', expiresAt }))
    const both = { to: 'ada', expiresAt: '2026-11-16', ttlMs: 5 }
    const error = await expectRefused(space, 'invalid', () => bob.send(both))
    expect(error.message).toBe('ttlMs and expiresAt are both given')
  })
})

describe('a field that no message has', () => {
  test.each([
    ['ttl_hours', 'ttlMs'],
    ['expires_at', 'expiresAt'],
    ['reply_to', 'replyTo'],
    ['thread', 'threadId'],
    ['to_agent', 'to'],
    ['content', 'body'],
    ['message_type', 'type'],
    ['metadata', 'payload'],
    ['swarm_name', 'swarm'],
    ['ack', 'requiresAck'],
    ['awaiting_response', 'awaitingResponse'],
    ['prioritty', 'priority'],
  ])('%s is refused: did you mean %s?', async (name, meant) => {
    const space = await tempSpace()
    const { bob } = await trio(space)
    const input = untyped({ to: 'ada', body: 'x', [name]: 'y' })
    const error = await expectRefused(space, 'invalid', () => bob.send(input))
    expect(error.message).toBe(`a message has no field "${name}"`)
    expect(error.hint).toContain(`did you mean ${meant}?`)
  })

  test('is refused by reply, broadcast and the actions of conversations too', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const { id } = await bob.send({ to: 'ada' })
    await expectRefused(space, 'invalid', () => ada.reply(id, untyped({ ttl_hours: 1 })))
    await expectRefused(space, 'invalid', () => ada.broadcast(untyped({ ttl_hours: 1 }) as object))
    const error = await expectRefused(space, 'invalid', () =>
      assignTask(bob, { to: 'ada', subject: 'S', task: 'T' } as never),
    )
    expect(error.hint).toContain('did you mean taskId?')
  })

  test('is the sender: a mailbox has its own', async () => {
    const space = await tempSpace()
    const { bob } = await trio(space)
    for (const name of ['from', 'from_agent', 'sender']) {
      const input = untyped({ to: 'ada', [name]: 'cy' })
      const error = await expectRefused(space, 'invalid', () => bob.send(input))
      expect(error.hint).toMatch(/sends as its own agent: .*--as NAME/)
    }
  })
})

/** Every name that a seed has for a type of message, and the type that it is. */
const seedTypes = {
  S0: {
    ...{ REQUEST: 'request', RESPONSE: 'response', NOTIFICATION: 'notification', HANDOFF: 'handoff' },
    ESCALATION: 'escalation',
  },
  S2: { help_request: 'help_request' },
  S3: {
    ...{ fix_ci_failure: 'fix_ci_failure', fix_review_comments: 'fix_review_comments', ack: 'ack' },
    ...{ status_request: 'status_request', status_response: 'status_response', error: 'error' },
    ...{ shutdown: 'shutdown_request', fix_ci: 'fix_ci_failure', 'status-update': 'status_update' },
  },
  S4: {
    ...{ Text: 'text', StatusUpdate: 'status_update', ShutdownRequest: 'shutdown_request' },
    ...{ ShutdownResponse: 'shutdown_response', PlanSubmission: 'plan_submission' },
    ...{ PlanApproval: 'plan_approval', TaskAssignment: 'task_assignment', Broadcast: 'broadcast' },
  },
}

describe('the type of a message', () => {
  test.each(Object.entries(seedTypes))('may have the names of %s', async (_, names) => {
    const { ada, bob } = await trio(await tempSpace())
    for (const [given, type] of Object.entries(names)) {
      const sent = await bob.send({ to: 'ada', type: given, subject: given })
      expect(sent.type).toBe(type)
      expect(subjects(await ada.inbox({ type: given, unread: true }))).toContain(given)
      expect(subjects(await ada.search(`type:${given}`))).toContain(given)
      await ada.read(sent.id)
    }
  })

  test('opens what it asks for, by whatever name', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', type: 'TaskAssignment', payload: { taskId: 'T-1' } })
    await bob.send({ to: 'ada', type: 'shutdown', payload: { reason: 'over' } })
    expect((await ada.owed()).map(({ kind }) => kind).sort()).toEqual(['shutdown', 'task'])
    const found = await ada.wait({ type: 'ShutdownRequest', timeoutMs: 0 })
    expect(found).toMatchObject({ type: 'shutdown_request' })
  })

  test('has the payload of its conversation, by whatever name', async () => {
    const space = await tempSpace()
    const { bob } = await trio(space)
    const input = { to: 'ada', type: 'TaskAssignment', payload: { taskId: 5 } }
    await expectRefused(space, 'invalid', () => bob.send(input))
  })

  test('that another system calls so is told to the sender; another spelling is not', async () => {
    const { bob } = await trio(await tempSpace())
    expect((await bob.send({ to: 'ada', type: 'shutdown' })).warnings).toEqual([
      'the type shutdown was taken as shutdown_request',
    ])
    expect((await bob.send({ to: 'ada', type: 'STATUS-REQUEST' })).warnings).toEqual([])
  })

  test.each([
    ['shutdown_requst', 'shutdown_request'],
    ['TaskAsignment', 'task_assignment'],
    ['status', 'status_request or status_response or status_update'],
    ['plan', 'plan_submission or plan_approval'],
    ['review', 'fix_review_comments'],
  ])('%s is accepted, and its sender asked whether %s was meant', async (type, meant) => {
    const { bob } = await trio(await tempSpace())
    const sent = await bob.send({ to: 'ada', type })
    expect(sent.type).toBe(type)
    expect(sent.warnings).toEqual([
      `${type} is not a known type, so it asks for nothing; did you mean ${meant}?`,
    ])
  })

  test.each(['gossip', 'deploy_request', 'test', 'feedback', 'context', 'my_text', ...knownTypes])(
    '%s is nobody else’s',
    async (type) => {
      const { bob } = await trio(await tempSpace())
      expect((await bob.send({ to: 'ada', type })).warnings).toEqual([])
    },
  )

  test('is ours in what is imported, with the priority', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const { warnings: _, seq: __, ...message } = await bob.send({ to: 'ada', subject: 'S' })
    const other = await tempSpace()
    await other.join('ada')
    await other.importMessages([{ ...message, type: 'TaskAssignment', priority: 4 }])
    const { messages } = await (await other.mailbox('ada', { join: false })).inbox()
    expect(messages).toMatchObject([{ type: 'task_assignment', priority: 'urgent' }])
    expect((await ada.inbox()).messages).toMatchObject([{ type: 'text', priority: 'normal' }])
  })
})

describe('the id of a client’s session', () => {
  const seat = (id: string, pid = process.ppid) => ({ client: 'claude', session: { id, pid } })

  test('is an address of the agent that has it', async () => {
    const space = await tempSpace()
    const { bob } = await trio(space)
    const seated = await space.joinAs(seat('5f2c9e0b-7a41-4c1d-9b36-0d3f6a7e1c22'))
    for (const to of ['5f2c9e0b-7a41-4c1d-9b36-0d3f6a7e1c22', 'agent:5f2c9e0b-7a41-4c1d-9b36-0d3f6a7e1c22'])
      expect((await bob.send({ to, subject: to })).to).toEqual([seated.name])
    expect((await seated.inbox()).messages).toHaveLength(2)
    await space.leave(seated.name, { frozen: true })
    const { warnings } = await bob.send({ to: '5f2c9e0b-7a41-4c1d-9b36-0d3f6a7e1c22' })
    expect(warnings).toEqual([`${seated.name} is frozen; the message waits`])
  })

  test('comes after the names of agents and roles', async () => {
    const space = await tempSpace()
    const { bob } = await trio(space)
    await space.join('claude-1', { session: { id: 'ada' } })
    await space.join('claude-2', { session: { id: 'reviewer' }, roles: ['writer'] })
    await bob.update({ addRoles: ['reviewer'] })
    expect((await bob.send({ to: 'ada' })).to).toEqual(['ada'])
    expect((await bob.send({ to: 'reviewer' })).to).toEqual(['role:reviewer'])
  })

  test('that two living agents claim is refused, and one of a dead agent gives way', async () => {
    const space = await tempSpace()
    const { bob } = await trio(space)
    for (const name of ['one', 'two']) await space.join(name, { session: { id: 's-1' } })
    const error = await expectRefused(space, 'unknown_recipient', () => bob.send({ to: 's-1' }))
    expect(error.hint).toBe('name one of them: one, two')
    await space.leave('one')
    expect((await bob.send({ to: 's-1' })).to).toEqual(['two'])
  })
})

test('an address is never opened as a directory', async () => {
  const cwd = readdirSync('.')
  for (const dir of ['http://localhost:7337', 'postgres://u@h/db']) {
    const opened = openSpace({ dir })
    await expect(opened).rejects.toMatchObject({
      code: 'invalid',
      message: `"${dir}" is an address, not a directory`,
    })
  }
  expect(readdirSync('.')).toEqual(cwd)
})

describe('an address that nobody has', () => {
  test('is accepted for a role and a tag, with the nearest that are known', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    await ada.update({ addRoles: ['librarian'], addTags: ['project:inscription'] })
    expect((await bob.send({ to: 'role:librarina' })).warnings).toEqual([
      'no agent has the role librarina now; the message waits for one; did you mean role:librarian?',
    ])
    expect((await bob.send({ to: 'project:inscripton' })).warnings).toEqual([
      'no agent has the tag project:inscripton now; the message waits until it expires; did you mean project:inscription?',
    ])
    expect((await bob.send({ to: 'role:steward' })).warnings).toEqual([
      'no agent has the role steward now; the message waits for one',
    ])
  })
})

describe('an attachment', () => {
  test('exists, or is refused with what to do', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const file = join(tempDir(), 'notes.md')
    const missing = { to: 'ada', attachments: [file] }
    const error = await expectRefused(space, 'invalid', () => bob.send(missing))
    expect(error).toMatchObject({ message: `there is no file ${JSON.stringify(file)} to attach` })
    expect(error.hint).toContain('relative to the current directory')
    writeFileSync(file, '')
    const { id } = await bob.send({ to: 'ada', attachments: [file, 'package.json'] })
    await expectRefused(space, 'invalid', () => ada.reply(id, { attachments: ['no such file'] }))
  })

  test('of a handoff may be gone: deleting a file is a change too', async () => {
    const { bob } = await trio(await tempSpace())
    const { handOff } = await import('../../src/mod.ts')
    const sent = await handOff(bob, {
      ...{ to: 'ada', subject: 'S', workCompleted: 'W' },
      ...{ filesModified: ['gone.md'], filesCreated: ['also-gone.md'] },
    })
    expect(sent.attachments).toEqual(['gone.md', 'also-gone.md'])
  })
})

test('what an action says with a payload alone has words for whoever reads only the body', async () => {
  const { bob } = await trio(await tempSpace())
  const failed = await reportCiFailure(bob, {
    ...{ to: 'ada', check: 'lint', pr: '#12', branch: 'main', error: 'Missing semicolon at line 42' },
  })
  expect(failed).toMatchObject({
    subject: 'CI failed: lint',
    body: 'The check lint failed on PR #12, branch main.\n\nMissing semicolon at line 42',
  })
  expect(allActions().find(({ name }) => name === 'reportCiFailure')!.conversation.verb!().name).toBe(
    'ci-failure',
  )
})
