import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { askForHelp } from '../../../src/mod.ts'
import { stateFor } from '../../helpers/scene.ts'
import { tempDir, tempSpace } from '../../helpers/temp.ts'
import { until } from '../../helpers/wait.ts'
import { FakeClient, hookProgram, hookStage } from './stage.ts'

const mail = { to: 'claude-1', subject: 'Mail', body: 'THE BODY' }

describe('after a tool', () => {
  it('shows what is high or urgent, and an answer to a question however quiet it is', async () => {
    const { ada, client, space } = await hookStage()
    const agent = await space.mailbox('claude-1')
    const question = await agent.send({ to: 'ada', subject: 'Q', body: 'why?', awaitingResponse: true })
    await ada.send({ ...mail, body: 'QUIET' })
    expect(client.hook('PostToolUse').text).toBe('')
    const answer = await ada.reply(question.id, { body: 'THE ANSWER', priority: 'low' })
    const { text } = client.hook('PostToolUse')
    expect(text).toContain('THE ANSWER')
    expect(text).not.toContain('QUIET')
    expect(await stateFor(space, answer.id, 'claude-1')).toBe('shown')
  })

  it('says nothing to a subagent, whose context is not that of the agent whose mail it is', async () => {
    const { ada, client, space } = await hookStage()
    const { id } = await ada.send({ ...mail, priority: 'urgent' })
    expect(client.hook('PostToolUse', { input: { agent_id: 'sub' } }).stdout).toBe('')
    expect(await stateFor(space, id, 'claude-1')).toBe('stored')
    expect(client.hook('PostToolUse').text).toContain('THE BODY')
  })
})

describe('at the end of a turn', () => {
  it('goes on with mail, but not for ever; the rest comes with the next prompt', async () => {
    const { ada, client } = await hookStage()
    let turns = 0
    for (let n = 0; n < 10; n++) {
      await ada.send({ ...mail, subject: `No. ${n}` })
      const { stdout } = client.hook('Stop', { input: { stop_hook_active: n > 0 } })
      if (stdout === '') break
      expect(JSON.parse(stdout)).toMatchObject({ decision: 'block' })
      turns++
    }
    expect(turns).toBe(5)
    expect(client.hook('UserPromptSubmit').text).toContain(`No. ${turns}`)
    await ada.send({ ...mail, subject: 'afterwards' })
    expect(client.hook('Stop').text).toContain('afterwards')
  })

  it('lets an agent stop over mail that asks for nothing', async () => {
    const { ada, client } = await hookStage()
    await ada.send({ ...mail, priority: 'low' })
    await ada.send({ ...mail, type: 'status_update', payload: { status: 'working' } })
    await ada.broadcast({ subject: 'News', body: 'THE NEWS' })
    expect(client.hook('Stop').stdout).toBe('')
    expect(client.hook('UserPromptSubmit').text).toContain('THE NEWS')
  })
})

describe('when a subagent stops', () => {
  it('tells the lead of a question that nobody has answered, and the person if somebody is stuck, once', async () => {
    const { ada, client, space } = await hookStage()
    const lead = await space.mailbox('lena', { join: { roles: ['lead'] } })
    const agent = await space.mailbox('claude-1')
    await agent.send({ to: 'ada', subject: 'Which port', body: '?', awaitingResponse: true })
    expect(client.hook('SubagentStop').stdout).toBe('')
    const { messages } = await lead.inbox({ unread: true })
    expect(messages).toMatchObject([{ from: 'claude-1', type: 'notification', priority: 'normal' }])
    const { id } = await askForHelp(agent, { body: 'I am stuck' })
    expect(JSON.parse(client.hook('SubagentStop').stdout)).toEqual({
      systemMessage: expect.stringContaining(`mailbox reply ${id}`),
    })
    expect(client.hook('SubagentStop').stdout).toBe('')
    // The help request itself is what the lead was sent; there is no word about it besides.
    expect((await lead.inbox({ unread: true })).messages.map(({ type }) => type)).toEqual([
      'help_request',
      'notification',
    ])
    await ada.check()
  })
})

describe('when a context was shortened', () => {
  it('says once what is in hand and what is owed', async () => {
    const { ada, client, space } = await hookStage()
    const agent = await space.mailbox('claude-1')
    const { id } = await ada.send({ ...mail, type: 'request', subject: 'THE WORK' })
    client.hook('UserPromptSubmit')
    await agent.start(id)
    expect(client.hook('PreCompact', { input: { trigger: 'auto' } }).stdout).toBe('')
    // No reason to go on.
    expect(client.hook('Stop').stdout).toBe('')
    const { text } = client.hook('PostToolUse')
    expect(text).toContain('You are working on this (processing)')
    expect(text).toContain('THE WORK')
    expect(client.hook('PostToolUse').text).toBe('')
    expect(client.hook('SessionStart', { input: { source: 'compact' } }).text).toContain('THE WORK')
  })
})

describe('at the end of a session', () => {
  it('freezes the agent, gives back what it took for a role, and wakes it under its name', async () => {
    const { ada, client, space } = await hookStage()
    await space.update('claude-1', { addRoles: ['tester'] })
    const work = await ada.send({ ...mail, to: 'role:tester' })
    expect(client.hook('UserPromptSubmit').text).toContain('THE BODY')
    expect(await stateFor(space, work.id, 'claude-1')).toBe('shown')
    client.hook('SessionEnd', { input: { reason: 'other' } })
    const frozen = (await space.agents()).find(({ name }) => name === 'claude-1')
    expect(frozen).toMatchObject({ state: 'frozen' })
    // One that begins to wait for its mail in that moment does not bring it back.
    client.hook('Rewake')
    expect((await space.agents()).find(({ name }) => name === 'claude-1')).toEqual(frozen)
    expect((await space.show(work.id)).receipts).toMatchObject([
      { recipient: 'role:tester', state: 'stored' },
    ])
    await ada.send({ ...mail, body: 'WHILE AWAY' })
    client.end()
    const resumed = new FakeClient(space, client.session)
    const { text } = resumed.hook('SessionStart', { input: { source: 'resume' } })
    expect(text).toContain('You are `claude-1`')
    expect(text).toContain('WHILE AWAY')
  })
})

describe('a session that came and went without a letter', () => {
  it('leaves the roster, and has its name again when it is resumed', async () => {
    const { client, space } = await hookStage()
    client.hook('SessionEnd', { input: { reason: 'other' } })
    const gone = (await space.agents()).find(({ name }) => name === 'claude-1')
    expect(gone).toMatchObject({ state: 'dead', gone: 'left' })
    client.end()
    const resumed = new FakeClient(space, client.session)
    expect(resumed.hook('SessionStart', { input: { source: 'resume' } }).text).toContain('You are `claude-1`')
  })
})

describe('a briefing', () => {
  it('stays within what clients take, and leaves the rest unread', async () => {
    const { ada, client, space } = await hookStage()
    const sent: string[] = []
    for (let n = 0; n < 30; n++)
      sent.push(
        (await ada.send({ ...mail, subject: `No. ${n}`, body: '語'.repeat(3_000), priority: 'high' })).id,
      )
    const { text } = client.hook('PostToolUse')
    expect(text.length).toBeLessThan(10_000)
    expect(Buffer.byteLength(text)).toBeLessThan(2_500 * 4)
    const states = await Promise.all(sent.map((id) => stateFor(space, id, 'claude-1')))
    const shown = sent.filter((id) => text.includes(id))
    expect(shown.length).toBeGreaterThan(1)
    expect(states.filter((state) => state === 'shown')).toHaveLength(shown.length)
    expect(text).toContain(`${30 - shown.length} more unread`)
    const start = client.hook('SessionStart').text
    expect(Buffer.byteLength(start)).toBeLessThan(2_500 * 4)
  })
})

describe('a hook that cannot do its work', () => {
  it('says nothing, ends with 0 and leaves a line in the log', async () => {
    const { client, space, ada } = await hookStage()
    expect(client.hook('UserPromptSubmit', { input: 'not { json' })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    })
    writeFileSync(join(space.dir, 'config.json'), '{"pollMs":"soon"}')
    expect(client.hook('UserPromptSubmit')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const log = readFileSync(join(space.dir, 'hooks.log'), 'utf8').trim().split('\n')
    expect(log).toHaveLength(2)
    expect(log[1]).toContain('claude UserPromptSubmit')
    await ada.check()
  })

  it('keeps its log short', async () => {
    const { client, space } = await hookStage()
    const path = join(space.dir, 'hooks.log')
    writeFileSync(path, 'x'.repeat(300_000))
    client.hook('UserPromptSubmit', { input: 'not json' })
    expect(statSync(path).size).toBeLessThan(10_000)
    expect(existsSync(`${path}.1`)).toBe(true)
  })

  it('says where there is no Node', async () => {
    const { client, space } = await hookStage()
    const ran = client.hook('UserPromptSubmit', { env: { MAILBOX_NODE: '/no/such/node' } })
    expect(ran).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(readFileSync(join(space.dir, 'hooks', 'problem'), 'utf8')).toContain('set MAILBOX_NODE')
  })

  it('makes no space where there is none', async () => {
    const { client } = await hookStage()
    const nowhere = join((await tempSpace()).dir, 'not-there')
    expect(client.hook('SessionStart', { env: { MAILBOX_SPACE: nowhere } }).stdout).toBe('')
    expect(existsSync(nowhere)).toBe(false)
  })
})

describe('a hook that is killed, or whose client does not listen', () => {
  it('has its mail come again when nobody reads what it prints', async () => {
    const { ada, client, space } = await hookStage()
    const { id } = await ada.send(mail)
    const child = spawn(hookProgram, ['claude', 'UserPromptSubmit'], {
      env: { ...process.env, ...client.env },
    })
    child.stdout.destroy()
    child.stdin.end(JSON.stringify({ session_id: client.session }))
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(0)
    const { receipts } = await space.show(id)
    expect(receipts[0]!.steps.map(({ state }) => state)).toEqual(['stored', 'shown', 'released'])
    expect(client.hook('UserPromptSubmit').text).toContain('THE BODY')
  })

  it('has mail come again that was marked when it was killed, but not what the agent has dealt with', async () => {
    const { ada, client, space } = await hookStage()
    const { id } = await ada.send({ ...mail, body: 'UNSEEN' })
    const other = await ada.send({ ...mail, body: 'DEALT WITH' })
    const child = spawn(hookProgram, ['claude', 'UserPromptSubmit'], {
      ...{ env: { ...process.env, ...client.env }, stdio: ['pipe', fullPipe(), 'ignore'] },
    })
    child.stdin!.end(JSON.stringify({ session_id: client.session }))
    // It cannot print, and hangs between the mark and the removal of its note.
    await until(async () => (await stateFor(space, id, 'claude-1')) === 'shown')
    await (await space.mailbox('claude-1')).ack(other.id)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const { text } = client.hook('UserPromptSubmit')
    expect(text).toContain('UNSEEN')
    expect(text).not.toContain('DEALT WITH')
    expect(readdirSync(join(space.dir, 'hooks', 'handing'))).toEqual([])
    expect(client.hook('UserPromptSubmit').text).toBe('')
  })
})

/** A pipe that takes nothing more. */
function fullPipe(): number {
  const path = join(tempDir(), 'pipe')
  execFileSync('mkfifo', [path])
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(fd))
  try {
    for (;;) writeSync(fd, 'x'.repeat(4_096))
  } catch {
    return fd
  }
}
