import { describe, expect, it } from 'vitest'
import { type AgentMailState, askForHelp, type MailboxHooks, mailboxHooks } from '../../src/mod.ts'
import { stateFor } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

/** Calls a hook as the SDK does. */
function call(
  hooks: MailboxHooks,
  event: keyof MailboxHooks,
  input: { agent_id?: string; tool_name?: string } = {},
  signal = live(),
) {
  return hooks[event][0]!.hooks[0]!({ hook_event_name: event, ...input }, undefined, { signal })
}

const live = () => new AbortController().signal

async function stage() {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  const worker = await space.mailbox('worker')
  return { space, ada, worker }
}

describe('mailboxHooks', () => {
  it('says who the agent is with the first prompt, and mail with every one', async () => {
    const { ada, worker } = await stage()
    const hooks = mailboxHooks(worker)
    const first = await call(hooks, 'UserPromptSubmit')
    expect(first.hookSpecificOutput).toMatchObject({
      hookEventName: 'UserPromptSubmit',
      additionalContext: expect.stringContaining('You are `worker`'),
    })
    expect(await call(hooks, 'UserPromptSubmit')).toEqual({})
    await ada.send({ to: 'worker', subject: 'Mail', body: 'THE BODY' })
    const { hookSpecificOutput } = await call(hooks, 'UserPromptSubmit')
    expect(hookSpecificOutput?.additionalContext).toContain('THE BODY')
    expect(await call(mailboxHooks(worker, { instructions: false }), 'UserPromptSubmit')).toEqual({})
  })

  it('keeps count, and knows what the agent waits for until that has come', async () => {
    const { ada, worker } = await stage()
    const states: AgentMailState[] = []
    const hooks = mailboxHooks(worker, { onState: (state) => states.push(state) })
    await ada.send({ to: 'worker', subject: 'Mail', body: '-' })
    await call(hooks, 'PostToolUse')
    expect(states.at(-1)).toMatchObject({ unread: { unread: 1 }, waitingForResponse: false })
    const { id } = await askForHelp(worker, { to: 'ada', body: 'how?' })
    await call(hooks, 'PostToolUse')
    expect(states.at(-1)).toMatchObject({ waitingFor: [id], waitingForResponse: true })
    await ada.reply(id, { body: 'THE ANSWER', priority: 'low' })
    const { hookSpecificOutput } = await call(hooks, 'PostToolUse')
    expect(hookSpecificOutput?.additionalContext).toContain('THE ANSWER')
    expect(states.at(-1)).toMatchObject({ waitingFor: [], waitingForResponse: false })
  })

  it('tells of help requests that a subagent has made and of those that have come in, once', async () => {
    const { space, ada, worker } = await stage()
    const lead = await space.mailbox('lena', { join: { roles: ['lead'] } })
    const hooks = mailboxHooks(worker)
    expect(await call(hooks, 'SubagentStop')).toEqual({})
    const mine = await askForHelp(worker, { to: 'ada', body: 'how?' })
    const theirs = await askForHelp(ada, { to: 'worker', body: 'where?' })
    const { systemMessage } = await call(hooks, 'SubagentStop')
    expect(systemMessage).toContain(mine.id)
    expect(systemMessage).toContain(theirs.id)
    expect(await call(hooks, 'SubagentStop')).toEqual({})
    const told = (await lead.inbox({ unread: true })).messages
    expect(told).toMatchObject([{ from: 'worker', priority: 'urgent', payload: { about: mine.id } }])
  })

  it('goes on with mail that asks for something instead of stopping, but not without end', async () => {
    const { ada, worker } = await stage()
    const hooks = mailboxHooks(worker, { turnsAtMost: 2 })
    const said: (string | undefined)[] = []
    for (let n = 0; n < 4; n++) {
      await ada.send({ to: 'worker', subject: `No. ${n}`, body: '-', awaitingResponse: true })
      said.push((await call(hooks, 'Stop')).hookSpecificOutput?.hookEventName)
    }
    expect(said).toEqual(['Stop', 'Stop', undefined, undefined])
  })

  it('lets the agent stop over mail that asks for nothing', async () => {
    const { ada, worker } = await stage()
    const hooks = mailboxHooks(worker)
    await ada.send({ to: 'worker', subject: 'Note', body: '-', priority: 'high' })
    await ada.broadcast({ subject: 'News', body: '-' })
    expect(await call(hooks, 'Stop')).toEqual({})
    await ada.send({ to: 'worker', subject: 'Now', body: '-', priority: 'urgent' })
    expect((await call(hooks, 'Stop')).hookSpecificOutput?.additionalContext).toContain('# Now')
  })

  it('leaves mail unread that nobody listens to any more, and all of it to the agent itself', async () => {
    const { space, ada, worker } = await stage()
    const hooks = mailboxHooks(worker)
    const { id } = await ada.send({ to: 'worker', subject: 'Now', body: 'THE BODY', priority: 'urgent' })
    expect(await call(hooks, 'PostToolUse', { agent_id: 'sub' })).toEqual({})
    expect(await stateFor(space, id, 'worker')).toBe('stored')
    expect(await call(hooks, 'PostToolUse', {}, AbortSignal.abort())).toEqual({})
    expect(await stateFor(space, id, 'worker')).toBe('stored')
    const { hookSpecificOutput } = await call(hooks, 'PostToolUse')
    expect(hookSpecificOutput?.additionalContext).toContain('THE BODY')
  })

  it('keeps subagents from the tools that take mail', async () => {
    const { worker } = await stage()
    const hooks = mailboxHooks(worker)
    const subagent = { agent_id: 'sub', tool_name: 'mcp__mailbox__check' }
    expect((await call(hooks, 'PreToolUse', subagent)).hookSpecificOutput).toEqual({
      ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny' },
      permissionDecisionReason: expect.stringContaining('Tell that agent in your report'),
    })
    expect(await call(hooks, 'PreToolUse', { ...subagent, tool_name: 'mcp__mailbox__send' })).toEqual({})
    expect(await call(hooks, 'PreToolUse', { tool_name: 'mcp__mailbox__check' })).toEqual({})
  })

  it('lets the agent go on when the mailbox cannot be read, and says so', async () => {
    const { space, worker } = await stage()
    const errors: unknown[] = []
    const hooks = mailboxHooks(worker, { onError: (error) => errors.push(error) })
    await space.close()
    expect(await call(hooks, 'UserPromptSubmit')).toEqual({})
    expect(errors).toMatchObject([{ code: 'closed' }])
  })

  it('says what is open when the context was shortened', async () => {
    const { ada, worker } = await stage()
    const hooks = mailboxHooks(worker, { instructions: false })
    const { id } = await ada.send({ to: 'worker', type: 'request', subject: 'THE WORK', body: '-' })
    await call(hooks, 'UserPromptSubmit')
    await worker.start(id)
    await call(hooks, 'PreCompact')
    const { hookSpecificOutput } = await call(hooks, 'UserPromptSubmit')
    expect(hookSpecificOutput?.additionalContext).toContain('THE WORK')
    expect(await call(hooks, 'UserPromptSubmit')).toEqual({})
  })
})
