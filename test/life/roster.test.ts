import { describe, expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'
import { expectRefused, hour, minute, subjects } from '../helpers/scene.ts'
import { agentNamed, byHand, journalOf, ladderOf, noticesTo, scene, stateOf } from './stage.ts'

describe('join, update (role, tags), freeze, resume, leave, die', () => {
  it('all by the command line, each as an entry of its own', async () => {
    const box = await createBox()
    await box.ok('join', 'ada', '--role', 'architect', '--tag', 'project:x')
    await box.ok('update', '--as', 'ada', '--role', 'reviewer', '--remove-tag', 'project:x')
    await box.ok('leave', 'ada', '--frozen')
    await box.ok('join', 'ada')
    await box.ok('leave', 'ada')
    const log = (await box.ok('log', '--json')).trim().split('\n')
    const changes = log.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'agent')
    expect(
      changes.map(({ change, agent }) => `${change} ${agent.state} ${agent.session.generation}`),
    ).toEqual(['joined alive 1', 'updated alive 1', 'frozen frozen 1', 'resumed alive 1', 'left dead 1'])
    const { agents } = await box.json('agents')
    expect(agents.find(({ name }) => name === 'ada')).toMatchObject({
      state: 'dead',
      gone: 'left',
      roles: ['architect', 'reviewer'],
      tags: [],
    })
  })

  it('role mail is for whoever has taken the role on, and no more for who gave it up', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'r')
    await bob.update({ removeRoles: ['r'], addTags: ['project:x'] })
    const { id } = await ada.send({ to: 'role:r' })
    await ada.send({ to: 'project:x', subject: 'tagged' })
    expect(subjects(await bob.check())).toEqual(['tagged'])
    await expectRefused(space, 'not_permitted', () => bob.claim(id))
  })

  it('die: an agent that nobody hears of for 24 h, unless it says something', async () => {
    const { space, pass } = await scene()
    const bob = await byHand(space, 'bob')
    const ada = await byHand(space, 'ada')
    await pass(20 * hour)
    await bob.send({ to: 'ada' })
    await pass(5 * hour)
    expect((await agentNamed(space, 'bob')).state).toBe('alive')
    expect(await agentNamed(space, 'ada')).toMatchObject({ state: 'dead', gone: 'silent' })
    await pass(20 * hour)
    expect((await agentNamed(space, 'bob')).state).toBe('dead')
    expect(ada.name).toBe('ada')
  })

  it('an agent cannot make itself dead or frozen by an update, nor leave as the person', async () => {
    const { space } = await scene()
    const bob = await byHand(space, 'bob')
    await expectRefused(space, 'invalid', () => bob.update({ state: 'dead' as 'alive' }))
    await expectRefused(space, 'invalid', () => bob.update({ state: 'frozen' as 'alive' }))
    await expectRefused(space, 'not_permitted', () => space.leave('user'))
  })
})

describe('states: alive, idle, waiting, frozen, dead', () => {
  it('each is seen in `mailbox agents`', async () => {
    const box = await createBox('ada', 'bob', 'cy', 'dan', 'eve')
    await box.ok('update', '--as', 'bob', '--state', 'idle')
    await box.ok('update', '--as', 'cy', '--state', 'waiting')
    await box.ok('leave', 'dan', '--frozen')
    await box.ok('leave', 'eve')
    const { agents } = await box.json('agents')
    expect(agents.map(({ name, state }) => `${name} ${state}`)).toEqual([
      ...['user alive', 'ada alive', 'bob idle', 'cy waiting', 'dan frozen', 'eve dead'],
    ])
    const text = await box.ok('agents')
    for (const line of ['ada +alive', 'bob +idle', 'cy +waiting', 'dan +frozen', 'eve +dead'])
      expect(text).toMatch(new RegExp(`^${line}`, 'm'))
  })

  it('`waitingForResponse` is part of the state: waiting until it says otherwise, and its mail comes', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const question = await bob.send({ to: 'ada', subject: 'Which port?', awaitingResponse: true })
    await bob.update({ state: 'waiting', note: 'for ada' })
    expect(await agentNamed(space, 'bob')).toMatchObject({ state: 'waiting', note: 'for ada' })
    await ada.reply(question.id, { body: '8080' })
    expect(await bob.wait({ replyTo: question.id, timeoutMs: 0 })).toMatchObject({ body: '8080' })
    await bob.update({ state: 'alive' })
    expect((await agentNamed(space, 'bob')).state).toBe('alive')
  })

  it('an idle or waiting agent is as mortal as any other', async () => {
    const { space, pass } = await scene()
    const bob = await byHand(space, 'bob')
    await bob.update({ state: 'waiting' })
    await pass(25 * hour)
    expect((await agentNamed(space, 'bob')).state).toBe('dead')
  })

  it('the person is never dead', async () => {
    const { space, pass } = await scene()
    const user = await space.mailbox('user')
    await user.broadcast({ subject: 'hello' })
    await pass(1000 * hour)
    expect((await agentNamed(space, 'user')).state).toBe('alive')
  })
})

describe('mail to a frozen agent waits beyond its life', () => {
  it('and is neither expired nor told to its sender', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    const before = await ada.send({ to: 'bob', subject: 'before', ttlMs: hour })
    await space.leave('bob', { frozen: true })
    const during = await ada.send({ to: 'bob', subject: 'during', ttlMs: hour })
    expect(during.warnings).toEqual([expect.stringContaining('bob is frozen')])
    await pass(100 * hour)
    for (const { id } of [before, during]) expect(await stateOf(space, id)).toBe('stored')
    expect(await noticesTo(space, 'ada')).toEqual([])
    expect((await agentNamed(space, 'bob')).state).toBe('frozen')
  })

  it('and lives on for as long as it had left when the agent is back', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob', subject: 'later', ttlMs: hour })
    await pass(30 * minute)
    await space.leave('bob', { frozen: true })
    await pass(100 * hour)
    const bob = await byHand(space, 'bob')
    await pass(29 * minute)
    expect(subjects(await bob.inbox())).toEqual(['later'])
    await pass(2 * minute)
    expect(await stateOf(space, id)).toBe('expired')
  })

  it('for a member of a swarm that is expected and has not come yet', async () => {
    const { space, pass } = await scene()
    const { mkdirSync, writeFileSync } = await import('node:fs')
    const dir = `${space.dir}/dev`
    mkdirSync(`${dir}/agents`, { recursive: true })
    writeFileSync(`${dir}/agents/ops.md`, '# ops')
    await space.seedSwarm(dir)
    const ada = await byHand(space, 'ada')
    await ada.send({ to: 'dev/ops', subject: 'welcome', ttlMs: null })
    await pass(100 * hour)
    const ops = await byHand(space, 'dev/ops')
    expect(subjects(await ops.check())).toEqual(['welcome'])
  })
})

describe('every run of an agent gets a generation', () => {
  it('a shutdown for generation 3 of ao-10 is a dead letter for generation 4, and ordinary mail is inherited', async () => {
    const { space } = await scene()
    const lea = await byHand(space, 'lea', 'lead')
    for (const _ of [1, 2, 3]) await byHand(space, 'ao-10')
    const shutdown = await lea.send({ to: 'ao-10', type: 'shutdown_request', subject: 'stop now' })
    expect(shutdown.generation).toBe(3)
    await lea.send({ to: 'ao-10', subject: 'the next task' })
    const fourth = await byHand(space, 'ao-10')
    expect((await agentNamed(space, 'ao-10')).session.generation).toBe(4)
    expect(subjects(await fourth.check())).toEqual(['the next task'])
    expect((await fourth.count()).unread).toBe(0)
    expect(await ladderOf(space, shutdown.id)).toEqual(['stored', 'dead'])
    const told = await noticesTo(space, 'lea')
    expect(told).toMatchObject([{ replyTo: shutdown.id, subject: 'Not delivered to ao-10' }])
    expect(told[0]!.body).toContain('generation 3')
    await expectRefused(space, 'conflict', () => fourth.ack(shutdown.id))
  })

  it('also when the third had died and its mail was waiting', async () => {
    const { space, pass } = await scene()
    const lea = await byHand(space, 'lea', 'lead')
    await byHand(space, 'ao-10')
    await pass(25 * hour)
    expect((await agentNamed(space, 'ao-10')).state).toBe('dead')
    await lea.send({ to: 'ao-10', type: 'shutdown_request' })
    const next = await byHand(space, 'ao-10')
    expect((await next.check()).messages).toEqual([])
  })

  it('the run it is for gets it', async () => {
    const { space } = await scene()
    const lea = await byHand(space, 'lea', 'lead')
    const bob = await byHand(space, 'bob')
    await lea.send({ to: 'bob', type: 'shutdown_request', subject: 'stop' })
    await lea.send({ to: 'bob', type: 'plan_approval', subject: 'go' })
    expect(subjects(await bob.check())).toEqual(['stop', 'go'])
  })

  it('a generation that is over or has not begun is refused when it is named', async () => {
    const { space } = await scene()
    const lea = await byHand(space, 'lea', 'lead')
    await byHand(space, 'bob')
    await byHand(space, 'bob')
    const send = (generation: number) => () => lea.send({ to: 'bob', type: 'shutdown_request', generation })
    await expectRefused(space, 'conflict', send(1))
    await expectRefused(space, 'conflict', send(3))
    expect((await send(2)()).generation).toBe(2)
  })
})

describe('role mail waits for a holder, and a successor in the role inherits', () => {
  it('however long that takes', async () => {
    const { space, pass } = await scene()
    const ada = await byHand(space, 'ada')
    const sent = await ada.send({ to: 'role:architect', subject: 'design it' })
    expect(sent.expiresAt).toBeUndefined()
    expect(sent.warnings).toEqual([expect.stringContaining('no agent has the role architect')])
    for (let weeks = 0; weeks < 4; weeks++) await pass(168 * hour)
    const bob = await byHand(space, 'bob', 'architect')
    expect(subjects(await bob.check())).toEqual(['design it'])
  })

  it("what the first architect has not finished is the next one's", async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob', 'architect')
    for (const subject of ['unread', 'begun', 'finished']) await ada.send({ to: 'role:architect', subject })
    const { messages } = await bob.inbox()
    await bob.start(messages[1]!.id)
    await bob.done(messages[2]!.id)
    await bob.leave()
    const cy = await byHand(space, 'cy', 'architect')
    expect(subjects(await cy.check())).toEqual(['unread', 'begun'])
    expect(await noticesTo(space, 'ada')).toEqual([])
    expect((await journalOf(space)).some((entry) => entry.kind === 'receipt' && entry.step === 'dead')).toBe(
      false,
    )
  })
})
