import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Folder } from '../../src/bridges/folder.ts'
import { claudeTeams } from '../../src/bridges/formats/claude-teams.ts'
import { Memory } from '../../src/bridges/memory.ts'
import { hostOf } from '../../src/bridges/parts.ts'
import { bridgeId, memoryPath } from '../../src/bridges/remembered.ts'
import { bridgedOnDisk } from '../../src/space/bridged.ts'
import { inStorm } from '../helpers/storm.ts'
import { until } from '../helpers/wait.ts'
import { claudeTeam, hookLead } from './claude-team.ts'
import { mailOf, stateOf } from './stage.ts'

describe('a team of Claude Code', () => {
  it('has our agents on its roster, and theirs are agents here', async () => {
    const { space, sync, members, team } = await claudeTeam(['alice', 'bob'])
    await sync()
    expect(members().at(-1)).toMatchObject({
      ...{ agentId: `zoe@${team}`, name: 'zoe', agentType: 'agent-mailbox', tmuxPaneId: 'external' },
      ...{ cwd: '/proj', subscriptions: [], mailboxSpace: space.id },
    })
    expect(members().at(-1)).not.toHaveProperty('backendType')
    const names = (await space.agents()).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([`${team}/team-lead`, `${team}/alice`, `${team}/bob`]))
    const before = JSON.stringify(members())
    await sync()
    expect(JSON.stringify(members())).toBe(before)
  })

  it('takes mail for our agent out of its inbox once it is in the space, and brings nothing twice', async () => {
    const { space, sync, post, inbox, team } = await claudeTeam()
    await sync()
    const id = post('team-lead', 'zoe', 'LEAD-TO-ZOE hi', { summary: 'hello' })
    await sync({ direction: 'in' })
    expect(inbox('zoe')).toHaveLength(1)
    await sync()
    expect(inbox('zoe')).toEqual([])
    const mail = await mailOf(space, 'zoe')
    expect(mail).toMatchObject([{ from: `${team}/team-lead`, subject: 'hello', body: 'LEAD-TO-ZOE hi' }])
    expect(mail[0]!.bridge).toMatchObject({ format: 'claude-teams', id })
  })

  it('waits with mail for a teammate until its lead has emptied its inbox, and started it', async () => {
    const { space, run, start, inbox, team, files } = await claudeTeam([])
    await space.join(`${team}/alice`)
    const first = await (await space.mailbox('zoe')).send({ to: `${team}/alice`, body: 'WELCOME' })
    run()
    const alice = start('alice')
    await until(() => files().includes(`teams/${team}/inboxes/alice.json`))
    expect(inbox('alice')).toEqual([])
    alice.place()
    alice.empty()
    await until(() => inbox('alice').length > 0)
    expect(inbox('alice')).toMatchObject([{ text: 'WELCOME', msg_id: first.id }])
  })

  it('writes to a teammate that was emptied before anybody looked', async () => {
    const { space, sync, start, inbox, team, run } = await claudeTeam([])
    await sync()
    const alice = start('alice')
    alice.place()
    alice.empty()
    await (await space.mailbox('zoe')).send({ to: `${team}/alice`, body: 'WELCOME', hold: true })
    run()
    await until(() => inbox('alice').length > 0)
    expect(inbox('alice')).toMatchObject([{ text: 'WELCOME' }])
  })

  it('puts an answer into the inbox of the lead, from a member of its own, once', async () => {
    const { space, sync, post, inbox } = await claudeTeam()
    await sync()
    post('team-lead', 'zoe', 'how far?')
    await sync()
    const [asked] = await mailOf(space, 'zoe')
    const answer = await (await space.mailbox('zoe')).reply(asked!.id, { body: 'ZOE-ANSWER' })
    await sync()
    await sync({ memory: ':memory:' })
    expect(inbox('team-lead')).toEqual([
      {
        ...{ from: 'zoe', text: 'ZOE-ANSWER', timestamp: answer.createdAt },
        ...{ color: 'purple', msgV: 1, msg_id: answer.id, type: 'message', read: false },
      },
    ])
    expect(await stateOf(space, answer.id, answer.to[0]!)).toBe('notified')
  })

  it('asks the lead about a plan, and its verdict settles the plan', async () => {
    const { space, sync, post, inbox, team } = await claudeTeam()
    await sync()
    const zoe = await space.mailbox('zoe')
    const plan = await zoe.send({
      ...{ to: `${team}/team-lead`, type: 'plan_submission', subject: 'Split', body: 'step 1', payload: {} },
    })
    await sync()
    const frame = JSON.parse(inbox('team-lead')[0]!['text'] as string) as Record<string, string>
    expect(frame).toMatchObject({
      type: 'plan_approval_request',
      from: 'zoe',
      planContent: '# Split\n\nstep 1',
    })
    expect(frame['requestId']).toMatch(/^plan_approval-\d{1,20}@[^@\n]{1,300}@[^@\n]+$/)
    const verdict = { type: 'plan_approval_response', approved: true, feedback: 'looks fine' }
    post('team-lead', 'zoe', { ...verdict, requestId: frame['requestId'], permissionMode: 'default' })
    await sync()
    expect((await zoe.waitUntilSettled(plan.id, { timeoutMs: 0 })).settled).toBe(true)
    expect((await mailOf(space, 'zoe'))[0]).toMatchObject({ type: 'plan_approval', replyTo: plan.id })
  })

  it('passes on that a shutdown is put off, and leaves the roster when it is accepted, until a resume', async () => {
    const { space, sync, post, inbox, members, resume, drain } = await claudeTeam()
    await sync()
    const requestId = 'shutdown-1794763431502@zoe'
    post('team-lead', 'zoe', { type: 'shutdown_request', requestId, from: 'team-lead', reason: 'all done' })
    await sync()
    const [asked] = await mailOf(space, 'zoe')
    expect(asked).toMatchObject({ type: 'shutdown_request', priority: 'urgent', body: 'all done' })
    const zoe = await space.mailbox('zoe')
    const answer = (accepted: boolean, body: string) =>
      zoe.reply(asked!.id, { type: 'shutdown_response', body, payload: { accepted, reason: body } })
    await answer(false, 'mid-task')
    await sync()
    expect(JSON.parse(inbox('team-lead')[0]!['text'] as string)).toMatchObject({
      ...{ type: 'shutdown_rejected', requestId, from: 'zoe', reason: 'mid-task' },
    })
    drain('team-lead')
    await answer(true, 'bye')
    await sync()
    const approved = JSON.parse(inbox('team-lead')[0]!['text'] as string) as object
    expect(approved).toMatchObject({ type: 'shutdown_approved', requestId, from: 'zoe' })
    expect(Object.keys(approved)).not.toContain('paneId')
    expect(members().map(({ name }) => name)).not.toContain('zoe')
    await sync()
    expect(members().map(({ name }) => name)).not.toContain('zoe')
    resume()
    await sync()
    expect(members().map(({ name }) => name)).toContain('zoe')
  })

  it('is the same team here after a resume, although it is in another folder there', async () => {
    const { space, sync, folder, team, text, sessionId, end, put } = await claudeTeam()
    await sync()
    const config = JSON.parse(text(`teams/${team}/config.json`)) as Record<string, unknown>
    end()
    await sync()
    const sent = await (await space.mailbox('zoe')).send({ to: `${team}/team-lead`, body: 'for later' })
    const now = { createdAt: Date.now(), leadSessionId: '00000000-0000-4000-8000-000000000000' }
    put('teams/session-00000000/config.json', { ...config, ...now })
    put(`sessions/${process.pid}.json`, { pid: process.pid, sessionId, status: 'idle' })
    await sync()
    expect(JSON.parse(text('teams/session-00000000/inboxes/team-lead.json'))).toMatchObject([
      { msg_id: sent.id },
    ])
    expect(text('teams/session-00000000/config.json')).toContain('"zoe"')
    expect((await space.agents()).map(({ name }) => name)).not.toContain('session-00000000/team-lead')
    expect(existsSync(join(folder, 'teams', team))).toBe(false)
  })

  it('never reads or writes frames about permissions', async () => {
    const { space, sync, post, inbox } = await claudeTeam()
    await sync()
    for (const type of ['permission_request', 'permission_response', 'mode_set_request'])
      post('team-lead', 'zoe', { type, request_id: 'perm-1-a' })
    post('team-lead', 'zoe', { type: 'idle_notification', from: 'team-lead', idleReason: 'available' })
    await sync()
    expect(await mailOf(space, 'zoe')).toEqual([])
    expect(inbox('zoe')).toEqual([])
  })

  it('is left when the bridge ends, and its members are away when it ends', async () => {
    const { space, run, members, end, team } = await claudeTeam()
    const stop = run()
    await until(() => members().some(({ name }) => name === 'zoe'))
    await stop()
    expect(members().map(({ name }) => name)).toEqual(['team-lead', 'alice'])
    end()
    run()
    await until(() => space.core.agents.get(`${team}/alice`)?.state === 'frozen')
  })

  it('waits with mail while a lock is held, and takes over one that nobody holds any more', async () => {
    const { space, run, folder, inbox, post, team } = await claudeTeam()
    run()
    await until(() => space.core.agents.get(`${team}/alice`))
    post('alice', 'alice', 'x')
    const lock = join(folder, 'teams', team, 'inboxes', 'alice.json.lock')
    mkdirSync(lock)
    await (await space.mailbox('zoe')).send({ to: `${team}/alice`, body: 'patience' })
    await (await space.mailbox('zoe')).send({ to: `${team}/team-lead`, body: 'nobody else waits' })
    await until(() => inbox('team-lead').length === 1)
    expect(inbox('alice')).toHaveLength(1)
    const old = new Date(Date.now() - 11_000)
    utimesSync(lock, old, old)
    await until(() => inbox('alice').length === 2)
  })

  it('leaves a roster alone that has not the shape it knows', async () => {
    const { sync, folder, team, text, problems } = await claudeTeam()
    writeFileSync(join(folder, 'teams', team, 'config.json'), '{"members":{"zoe":1}}')
    await sync()
    expect(text(`teams/${team}/config.json`)).toBe('{"members":{"zoe":1}}')
    expect(problems).toEqual([expect.stringContaining('no list of members')])
  })

  it('has tasks of the team as tasks here, and settles them on both sides', async () => {
    const { space, sync, task, taskFile, post, inbox, team } = await claudeTeam()
    task('1', { owner: 'alice', status: 'in_progress' })
    task('2', { owner: 'zoe', blockedBy: ['1'], extra: 1 })
    await sync()
    post('team-lead', 'zoe', { type: 'task_assignment', taskId: '2', subject: 'Task 2', description: 'd' })
    await sync()
    const [given] = await mailOf(space, 'zoe')
    expect(await mailOf(space, 'zoe')).toHaveLength(1)
    expect(given).toMatchObject({ type: 'task_assignment', subject: 'Task 2', from: `${team}/team-lead` })
    expect(given!.payload).toEqual({ taskId: `${team}#2`, after: [`${team}#1`] })
    task('1', { owner: 'alice', status: 'completed' })
    await sync()
    const [alices] = await mailOf(space, `${team}/alice`)
    expect(await stateOf(space, alices!.id, `${team}/alice`)).toBe('completed')
    const zoe = await space.mailbox('zoe')
    await zoe.start(given!.id)
    await sync()
    expect(taskFile('2')).toMatchObject({ status: 'in_progress', extra: 1, owner: 'zoe' })
    await zoe.done(given!.id, { note: 'ZOE-REPORT' })
    await sync()
    expect(taskFile('2')).toMatchObject({ status: 'completed' })
    const [report, note] = inbox('team-lead').map(({ text }) => text as string)
    expect(report).toBe('ZOE-REPORT')
    expect(JSON.parse(note!)).toMatchObject({
      type: 'idle_notification',
      completedTaskId: '2',
      completedStatus: 'resolved',
    })
  })
})

describe('a bridge to a team', () => {
  it('keeps the words of any message, both ways', { timeout: 600_000 }, async () => {
    const { space, folder, sync, inbox, team } = await claudeTeam()
    await sync()
    const text = fc.string({ unit: 'grapheme', maxLength: 80 })
    const said = fc.sample(fc.record({ subject: text, body: text }), {
      ...{ numRuns: inStorm(1_000, 40), seed: 7 },
    })
    const zoe = await space.mailbox('zoe')
    for (const { subject, body } of said) await zoe.send({ to: `${team}/alice`, subject, body })
    await sync()
    expect(inbox('alice').map(({ text: words, summary = '' }) => [words, summary])).toEqual(
      said.map(({ subject, body }) => [body || subject, subject]),
    )
    // Readers know an entry by these three.
    const keys = inbox('alice').map(({ from, timestamp, text: words }) => `${from}|${timestamp}|${words}`)
    expect(new Set(keys).size).toBe(said.length)
    const timestamp = new Date().toISOString()
    const entries = said.map(({ subject, body }, n) => ({
      ...{ from: 'alice', text: body, summary: subject, timestamp, msg_id: `m${n}`, more: [n], read: false },
    }))
    writeFileSync(join(folder, 'teams', team, 'inboxes', 'zoe.json'), JSON.stringify(entries))
    await sync()
    expect((await mailOf(space, 'zoe')).map(({ subject, body }) => ({ subject, body }))).toEqual(said)
    expect(inbox('zoe')).toEqual([])
  })

  it('that was killed after it had written, or has forgotten everything, says nothing again that was taken', async () => {
    const { space, folder, sync, drain, inbox, team } = await claudeTeam()
    await sync()
    const { id } = await (await space.mailbox('zoe')).send({ to: `${team}/alice`, body: 'once' })
    await sync()
    expect(inbox('alice')).toHaveLength(1)
    // What a kill after the rename leaves: the link says that it is about to be written.
    const memory = new Memory(memoryPath(space.dir, bridgeId('claude-teams', folder)))
    memory.setLink({ ...memory.linksOf(id)[0]!, place: '' }, false)
    memory.close()
    drain('alice')
    await sync()
    expect(inbox('alice')).toEqual([])
    await sync({ memory: ':memory:' })
    expect(inbox('alice')).toEqual([])
    await (await space.mailbox('zoe')).send({ to: `${team}/alice`, body: 'once' })
    await sync()
    expect(inbox('alice')).toHaveLength(1)
  })

  it('gives nobody the name of somebody else, and each of ours a name of its own', async () => {
    const { space, sync, members, inbox, post, team } = await claudeTeam()
    for (const name of ['alice', 'zoe.x', 'zoe-x']) await space.join(name)
    await sync()
    expect(members().map(({ name }) => name)).toEqual([
      ...['team-lead', 'alice', 'zoe', 'mailbox-alice', 'zoe-x', 'mailbox-zoe-x'],
    ])
    await (await space.mailbox('alice')).send({ to: `${team}/team-lead`, body: 'from our alice' })
    await sync()
    expect(inbox('team-lead')).toMatchObject([{ from: 'mailbox-alice', text: 'from our alice' }])
    post('team-lead', 'mailbox-alice', 'to your alice')
    await sync()
    expect(await mailOf(space, 'alice')).toMatchObject([{ body: 'to your alice' }])
  })

  it('writes to no file that a message names', async () => {
    const { space, sync, post, put, text } = await claudeTeam()
    put('settings.json', '{"model":"x"}')
    await sync()
    post('alice', 'zoe', {
      type: 'task_assignment',
      taskId: '../../settings',
      subject: 's',
      description: 'd',
    })
    await sync()
    const zoe = await space.mailbox('zoe')
    const [given] = await mailOf(space, 'zoe')
    await zoe.start(given!.id)
    await zoe.done(given!.id)
    await sync()
    expect(text('settings.json')).toBe('{"model":"x"}')
  })

  it('leaves entries of any shape where they are, writes beside them, and does not touch what is no list', async () => {
    const { space, sync, put, text, team, problems } = await claudeTeam(['alice', 'bob', 'carol'])
    const odd = [null, 5, [], { from: 1 }, { from: 'bob', text: 't', timestamp: 'x', msg_id: {}, summary: 7 }]
    put(`teams/${team}/inboxes/alice.json`, odd)
    put(`teams/${team}/inboxes/zoe.json`, odd)
    put(`teams/${team}/inboxes/bob.json`, '{"half": ')
    put(`teams/${team}/inboxes/carol.json`, '')
    await sync()
    const zoe = await space.mailbox('zoe')
    for (const name of ['alice', 'bob', 'carol'])
      await zoe.send({ to: `${team}/${name}`, body: `to ${name}` })
    await sync({ patienceMs: 300 })
    const list = JSON.parse(text(`teams/${team}/inboxes/alice.json`)) as unknown[]
    expect(list).toEqual([...odd, expect.objectContaining({ text: 'to alice' })])
    expect(JSON.parse(text(`teams/${team}/inboxes/zoe.json`))).toEqual(odd)
    expect(text(`teams/${team}/inboxes/bob.json`)).toBe('{"half": ')
    expect(text(`teams/${team}/inboxes/carol.json`)).toContain('to carol')
    expect(problems.filter((one) => one.includes('the bridge ended'))).toEqual([])
  })
})

it('a lead without a teammate of its own does not read its inbox, which is reported', async () => {
  const { space, sync, problems, team } = await claudeTeam([])
  await sync()
  await (await space.mailbox('zoe')).send({ to: `${team}/team-lead`, body: 'anybody there?' })
  await sync()
  expect(problems).toEqual([])
  const later = Object.setPrototypeOf({ ...space, now: () => Date.now() + 11_000 }, space) as typeof space
  await sync({ space: later })
  expect(problems).toEqual([expect.stringContaining('once it has started a teammate of its own')])
})

describe('what users of teams complain of', () => {
  it('a misspelt teammate: the mail is a dead letter, and its sender is told whom it may have meant', async () => {
    const { space, sync, post, inbox, team } = await claudeTeam()
    await sync()
    post('team-lead', 'alcie', 'please review')
    await sync()
    await sync()
    const { letters } = await space.deadLetters()
    expect(letters).toMatchObject([{ message: { body: 'please review', from: `${team}/team-lead` } }])
    expect(inbox('team-lead')).toMatchObject([
      { from: 'mailbox', text: expect.stringContaining('Did you mean alice?') },
    ])
    expect((await space.agents()).map(({ name }) => name)).not.toContain(`${team}/alcie`)
    const sent = (await space.mailbox('zoe')).send({ to: `${team}/alcie`, body: 'x' })
    await expect(sent).rejects.toMatchObject({
      code: 'unknown_recipient',
      hint: expect.stringContaining(`${team}/alice`),
    })
  })

  it('nobody is told of a dead letter that is not kept yet', async () => {
    const { space, folder: path, sync, post, inbox } = await claudeTeam()
    await sync()
    post('team-lead', 'alcie', 'please review')
    // It came after the look at the inboxes, and before the rest of the look.
    const memory = new Memory(memoryPath(space.dir, bridgeId('claude-teams', path)))
    const folder = new Folder(path, memory, space.now, hostOf(bridgedOnDisk(space)))
    folder.begin()
    claudeTeams.tend!(folder)
    memory.close()
    expect(inbox('team-lead')).toEqual([])
    await sync()
    expect((await space.deadLetters()).letters).toHaveLength(1)
    expect(inbox('team-lead')).toHaveLength(1)
  })

  it('a message that was taken and never shown is brought by the hooks of the lead, once', async () => {
    let now = Date.now()
    const { space, sync, post, drain, say, sessionId, team } = await claudeTeam()
    await hookLead(space, sessionId)
    // Ten seconds pass between two looks.
    const at = { ...space, now: () => (now += 5_000) }
    Object.setPrototypeOf(at, space)
    say('something else')
    await sync()
    post('alice', 'team-lead', 'SHOWN report one')
    post('alice', 'team-lead', 'LOST report two')
    await sync()
    say('SHOWN report one')
    drain('team-lead')
    const lead = space.mailboxInside('claude-1')
    await sync({ space: at as typeof space })
    await sync({ space: at as typeof space })
    expect((await lead.unread()).messages).toMatchObject([{ body: 'LOST report two', from: `${team}/alice` }])
    expect((await mailOf(space, 'claude-1')).map(({ body }) => body).sort()).toEqual([
      'LOST report two',
      'SHOWN report one',
    ])
  })

  it('mail in the middle of a turn: a lead with hooks gets it from them, and not from the file as well', async () => {
    const { space, sync, sessionId, files } = await claudeTeam()
    await hookLead(space, sessionId)
    await sync()
    const zoe = await space.mailbox('zoe')
    await zoe.send({ to: 'claude-1', body: 'STOP', priority: 'urgent' })
    await sync()
    expect(files('teams').filter((file) => file.includes('inboxes'))).toEqual([])
    expect((await space.mailboxInside('claude-1').unread()).messages).toMatchObject([{ body: 'STOP' }])
  })

  it('an inbox of 1,000: ours is emptied, and what is stuck in that of the lead comes by its hooks', async () => {
    const mates = Array.from({ length: 20 }, (_, n) => `mate${n}`)
    const { space, sync, folder, team, sessionId, inbox } = await claudeTeam(mates)
    await hookLead(space, sessionId)
    await sync()
    const timestamp = new Date(Date.now() - 120_000).toISOString()
    const entries = (to: string, length: number) =>
      Array.from({ length }, (_, n) => ({
        ...{
          from: `mate${n % 20}`,
          text: `report ${n} to ${to}`,
          timestamp,
          msg_id: `${to}-${n}`,
          read: false,
        },
      }))
    const inboxes = { zoe: inStorm(1_000, 100), 'team-lead': 1_000 }
    for (const [to, length] of Object.entries(inboxes))
      writeFileSync(join(folder, 'teams', team, 'inboxes', `${to}.json`), JSON.stringify(entries(to, length)))
    await sync()
    expect(inbox('zoe')).toEqual([])
    expect(inbox('team-lead')).toHaveLength(1_000)
    expect((await space.mailboxInside('zoe').count()).unread).toBe(inboxes.zoe)
    expect((await space.mailboxInside('claude-1').count()).unread).toBe(1_000)
  })

  it('a first message to a teammate that waits is written at once, also if it was sent before it was there', async () => {
    const { space, run, inbox, team } = await claudeTeam()
    const zoe = await space.mailbox('zoe')
    await space.join(`${team}/alice`)
    await zoe.send({ to: `${team}/alice`, body: 'FIRST' })
    run()
    await until(() => space.core.agents.get(`${team}/team-lead`))
    await until(() => inbox('alice').length === 1)
    await zoe.send({ to: `${team}/alice`, body: 'SECOND' })
    await until(() => inbox('alice').length === 2)
    expect(inbox('alice').map(({ text }) => text)).toEqual(['FIRST', 'SECOND'])
  })

  it('a final report behind an idle note is kept, and its notes without one are no mail', async () => {
    const { space, sync, post, drain, team } = await claudeTeam()
    await sync()
    const idle = { type: 'idle_notification', from: 'alice', idleReason: 'available' }
    post('alice', 'team-lead', { ...idle, summary: 'done', result: 'THE-FINAL-REPORT' })
    post('alice', 'team-lead', idle)
    await sync()
    drain('team-lead')
    await sync()
    expect(await mailOf(space, `${team}/team-lead`)).toMatchObject([
      { body: 'THE-FINAL-REPORT', from: `${team}/alice` },
    ])
  })

  it('mail that lay in an inbox when its team ended is here, and waits for the lead', async () => {
    const { space, sync, post, end, sessionId, say } = await claudeTeam()
    await hookLead(space, sessionId)
    say('nothing')
    await sync()
    post('alice', 'team-lead', 'IN-THE-FOLDER')
    await sync()
    end()
    await sync()
    await sync()
    expect((await space.mailboxInside('claude-1').unread()).messages).toMatchObject([
      { body: 'IN-THE-FOLDER' },
    ])
  })
})
