import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { dialects } from '../../../src/clients/hook/dialects.ts'
import { askForHelp, assignTask } from '../../../src/mod.ts'
import { countingNode } from '../../helpers/counting-node.ts'
import { stateFor } from '../../helpers/scene.ts'
import { tempDir } from '../../helpers/temp.ts'
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

  it('refuses a subagent the tools that take mail, and says what it can do', async () => {
    const { client } = await hookStage()
    const call = (tool: string, from: object = { agent_id: 'sub' }) => ({
      ...{ ...from, tool_name: tool, tool_input: {} },
    })
    expect(JSON.parse(client.hook('PreToolUse', { input: call('mcp__mailbox__check') }).stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringContaining('Tell that agent in your report'),
      },
    })
    const { env, starts } = countingNode()
    const own = client.hook('PreToolUse', { env, input: call('mcp__mailbox__check', {}) })
    expect([own.stdout, starts()]).toEqual(['', 0])
    const { parse } = dialects.claude
    const refused = ['check', 'read', 'wait', 'handle'].map((tool) => `mcp__mailbox__${tool}`)
    for (const tool of [...refused, 'mcp__plugin_mailbox_mailbox__check'])
      expect(parse('PreToolUse', call(tool)), tool).toMatchObject({ moment: 'call', fromSubagent: true })
    for (const tool of ['mcp__mailbox__send', 'mcp__mailbox__search', 'mcp__other__check', 'Bash'])
      expect(parse('PreToolUse', call(tool)), tool).toBeUndefined()
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
  it('goes on with mail, but not without end; the rest comes with the next prompt', async () => {
    const { ada, client } = await hookStage()
    let turns = 0
    for (let n = 0; n < 10; n++) {
      await ada.send({ ...mail, subject: `No. ${n}`, awaitingResponse: true })
      const { stdout } = client.hook('Stop', { input: { stop_hook_active: n > 0 } })
      if (stdout === '') break
      // Context alone makes it go on. A decision would put the text there a second time.
      expect(Object.keys(JSON.parse(stdout) as object)).toEqual(['hookSpecificOutput'])
      turns++
    }
    expect(turns).toBe(5)
    expect(client.hook('UserPromptSubmit').text).toContain(`No. ${turns}`)
    await ada.send({ ...mail, subject: 'afterwards', priority: 'urgent' })
    expect(client.hook('Stop').text).toContain('afterwards')
  })

  it('lets an agent stop over mail that asks for nothing', async () => {
    const { ada, client } = await hookStage()
    await ada.send({ ...mail, priority: 'high' })
    await ada.send({ ...mail, type: 'request' })
    await ada.send({ ...mail, type: 'status_update', payload: { status: 'working' } })
    await ada.broadcast({ subject: 'News', body: 'THE NEWS', priority: 'high' })
    expect(client.hook('Stop').stdout).toBe('')
    expect(client.hook('UserPromptSubmit').text).toContain('THE NEWS')
  })
})

describe('a reply to work that the agent has given', () => {
  it('keeps it from stopping if it is the end of the work, not if it says that it has begun', async () => {
    const { ada, client, space } = await hookStage()
    const agent = await space.mailbox('claude-1')
    const { id } = await assignTask(agent, { to: 'ada', subject: 'Build it' })
    await ada.reply(id, { body: 'ON IT' })
    expect(client.hook('PostToolUse').text).toBe('')
    expect(client.hook('Stop').stdout).toBe('')
    await ada.done(id, { note: 'ALL BUILT' })
    const { text } = client.hook('Stop')
    expect(text).toContain('ALL BUILT')
    expect(text).not.toContain('ON IT')
    expect(client.hook('UserPromptSubmit').text).toContain('ON IT')
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
    const work = await ada.send({ ...mail, to: 'role:tester', type: 'task_assignment' })
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

describe('where there is no space yet', () => {
  it('the start of a session makes it, and nothing else does', async () => {
    const { client } = await hookStage()
    const home = tempDir()
    const env = { HOME: home, MAILBOX_SPACE: '' }
    const cwd = join(home, 'project')
    mkdirSync(cwd)
    for (const event of ['UserPromptSubmit', 'PostToolUse', 'Stop', 'SessionEnd'])
      expect(client.hook(event, { env, cwd }).stdout, event).toBe('')
    expect(readdirSync(home)).toEqual(['project'])
    expect(client.hook('SessionStart', { env, cwd }).text).toContain('You are `claude-1` in a mailbox')
    expect(existsSync(join(home, '.mailbox', 'journal'))).toBe(true)
    const named = join(home, 'named')
    const text = client.hook('SessionStart', { env: { ...env, MAILBOX_SPACE: named }, cwd }).text
    expect(text).toContain('You are `claude-1`')
    const relative = client.hook('SessionStart', { env: { ...env, MAILBOX_SPACE: './near' }, cwd }).text
    expect(relative).toContain('You are `claude-1`')
  })

  it('a folder of that name in a project is not taken for one', async () => {
    const { client } = await hookStage()
    const home = tempDir()
    const cwd = join(home, 'project')
    mkdirSync(join(cwd, '.mailbox'), { recursive: true })
    const env = { HOME: home, MAILBOX_SPACE: '' }
    expect(client.hook('SessionStart', { env, cwd }).text).toContain('You are `claude-1`')
    expect(readdirSync(join(cwd, '.mailbox'))).toEqual([])
    expect(existsSync(join(home, '.mailbox', 'journal'))).toBe(true)
  })
})

describe('after a run that was killed', () => {
  it('the next one under the name is told once what that was shown and did nothing about', async () => {
    const { ada, client, space } = await hookStage()
    const early = await ada.send({ ...mail, subject: 'EARLY', body: 'dealt with long ago' })
    client.hook('UserPromptSubmit')
    client.hook('Stop')
    await ada.send({ ...mail, subject: 'LOST', body: 'THE LOST BODY' })
    await ada.send({ ...mail, subject: 'ASKED', body: 'why?', awaitingResponse: true })
    const acked = await ada.send({ ...mail, subject: 'ACKED', body: 'seen' })
    client.hook('UserPromptSubmit')
    await (await space.mailbox('claude-1')).ack(acked.id)
    // As if it had been at work for another minute.
    const state = join(space.dir, 'hooks', 'agents', 'claude-1.json')
    const known = JSON.parse(readFileSync(state, 'utf8')) as { at: number }
    writeFileSync(state, JSON.stringify({ ...known, at: known.at + 60_000 }))
    client.end()
    await once(client.process, 'exit')

    const next = new FakeClient(space, 'another session')
    const { text } = next.hook('SessionStart')
    expect(text).toContain('You are `claude-1`')
    const [, lost = '', open = ''] = text.split('\n## ')
    expect(lost).toMatch(/^Shown to your earlier run\n/)
    expect(lost).toContain('THE LOST BODY')
    expect(open).toContain('This question is waiting for you and was shown to your earlier run:')
    expect(open).toContain('ASKED')
    expect(text).not.toContain('ACKED')
    // That turn has ended.
    expect(await stateFor(space, early.id, 'claude-1')).toBe('shown')
    expect(lost).not.toContain('EARLY')

    next.hook('SessionEnd', { input: { reason: 'other' } })
    next.end()
    const third = new FakeClient(space, 'a third session')
    expect(third.hook('SessionStart', { env: { MAILBOX_AGENT: 'claude-1' } }).text).not.toContain('LOST')
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
    expect(log[0]).toMatch(/claude UserPromptSubmit invalid: the input of the hook is not JSON: [^\n]{1,80}$/)
    expect(log[1]).toContain('claude UserPromptSubmit')
    await ada.check()
  })

  it('does nothing for a client that is none, whatever it is called', async () => {
    const { space } = await hookStage()
    const hook = fileURLToPath(new URL('../../../dist/hook.cjs', import.meta.url))
    for (const client of ['constructor', 'toString', '__proto__', 'emacs']) {
      const words = [hook, client, 'UserPromptSubmit', space.dir, String(process.pid)]
      const env = { ...process.env, MAILBOX_SPACE: space.dir }
      const { status, stdout, stderr } = spawnSync(process.execPath, words, {
        env,
        input: '{}',
        encoding: 'utf8',
      })
      expect({ client, status, stdout, stderr }).toEqual({ client, status: 0, stdout: '', stderr: '' })
    }
    expect(existsSync(join(space.dir, 'hooks.log'))).toBe(false)
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

describe('a hook that was killed', () => {
  it('does not give back what another process of its agent has claimed since', async () => {
    const { ada, client, space } = await hookStage()
    client.hook('UserPromptSubmit')
    const mailbox = await space.mailbox('claude-1')
    await mailbox.update({ addRoles: ['tester'] })
    const { id } = await ada.send({ ...mail, to: 'role:tester' })
    const child = spawn(hookProgram, ['claude', 'UserPromptSubmit'], {
      ...{ env: { ...process.env, ...client.env }, stdio: ['pipe', fullPipe(), 'ignore'] },
    })
    child.stdin!.end(JSON.stringify({ session_id: client.session }))
    const claim = async () => (await space.show(id)).receipts[0]!
    const notes = join(space.dir, 'hooks', 'handing')
    const isNumbered = (name: string) => / \d+$/.test(readFileSync(join(notes, name), 'utf8'))
    await until(() => existsSync(notes) && readdirSync(notes).some(isNumbered))
    await mailbox.release(id)
    expect((await mailbox.check()).messages.map((message) => message.id)).toEqual([id])
    child.kill('SIGKILL')
    await once(child, 'exit')
    client.hook('PostToolUse')
    expect(await claim()).toMatchObject({ claimedBy: 'claude-1', state: 'shown' })
    expect(readdirSync(notes)).toEqual([])
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
