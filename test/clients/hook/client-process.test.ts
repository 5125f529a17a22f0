import { describe, expect, it } from 'vitest'
import { countingNode } from '../../helpers/counting-node.ts'
import { startScript } from '../../helpers/processes.ts'
import { tempSpace } from '../../helpers/temp.ts'
import { until } from '../../helpers/wait.ts'
import { ageJournal, hookProgram, stamps } from './stage.ts'

interface Answer {
  stdout: string
  stderr: string
  status: number
}

/** A client of another kind than Claude Code: it does not say which process it is. */
function startClient(space: string, env: Record<string, string>) {
  const running = startScript(new URL('client-process.mjs', import.meta.url), [], {
    env: { MAILBOX_SPACE: space, CLAUDE_PID: '1', ...env },
  })
  let asked = 0
  const run = async (script: string, more: object = {}): Promise<Answer> => {
    running.tell(JSON.stringify({ script, input: JSON.stringify({ session_id: 'a-session', ...more }) }))
    asked++
    await until(() => running.lines.length >= asked)
    return JSON.parse(running.lines[asked - 1]!) as Answer
  }
  const kill = async () => {
    running.kill('SIGKILL')
    await running.exit
  }
  return { run, kill, pid: running.process.pid }
}

describe('the client above a hook', () => {
  for (const client of ['codex', 'gemini']) {
    const after = client === 'codex' ? 'PostToolUse' : 'AfterTool'
    it(`is found whether its shells stay or not (${client})`, async () => {
      const space = await tempSpace()
      const { env, starts } = countingNode()
      const { run, pid } = startClient(space.dir, env)
      const direct = (event: string) => run(`exec '${hookProgram}' ${client} ${event}`)
      const throughShells = (event: string) => run(`sh -c "'${hookProgram}' ${client} ${event}; exit"; exit`)
      const started = await direct('SessionStart')
      const told = client === 'codex' ? started : await direct('BeforeAgent')
      expect(told.stdout).toContain(`You are \`${client}-1\``)
      expect(await throughShells(after)).toEqual({ stdout: '', stderr: '', status: 0 })
      const agents = (await space.agents()).filter(({ session }) => session.client === client)
      expect(agents).toMatchObject([{ name: `${client}-1`, session: { pid, id: 'a-session' } }])
      ageJournal(space)
      await throughShells(after)
      expect(stamps(space)).not.toEqual([])
      const before = starts()
      for (const way of [direct, throughShells])
        expect(await way(after)).toEqual({ stdout: '', stderr: '', status: 0 })
      expect(starts()).toBe(before)
      const ada = await space.mailbox('ada')
      await ada.send({ to: `${client}-1`, subject: 'Now', body: 'IMPORTANT', priority: 'high' })
      expect((await direct(after)).stdout).toContain('IMPORTANT')
    })
  }

  it('may have several sessions: the quick path must be right for all of them', async () => {
    const space = await tempSpace()
    const { run } = startClient(space.dir, {})
    const hook = (event: string, session: string) =>
      run(`exec '${hookProgram}' codex ${event}`, { session_id: session })
    await hook('SessionStart', 'one')
    expect((await hook('SessionStart', 'two')).stdout).toContain('You are `codex-2`')
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'codex-2', subject: 'Now', body: 'FOR THE SECOND', priority: 'low' })
    ageJournal(space)
    await hook('PostToolUse', 'one')
    expect(stamps(space)).toEqual([])
  })

  it('gives no mail to a subagent of Gemini CLI, whose calls look like those of its agent', async () => {
    const space = await tempSpace()
    const { run } = startClient(space.dir, {})
    const hook = async (event: string, more: object = {}) =>
      (await run(`exec '${hookProgram}' gemini ${event}`, more)).stdout
    const subagent = { tool_name: 'invoke_agent', tool_input: { agent_name: 'x', prompt: 'look around' } }
    const check = { tool_name: 'mcp_mailbox_check', tool_input: {} }
    await hook('SessionStart')
    ageJournal(space)
    await hook('AfterTool', { tool_name: 'ls' })
    expect(stamps(space)).not.toEqual([])
    expect(await hook('BeforeTool', check)).toBe('')
    expect(await hook('BeforeTool', subagent)).toBe('')
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'gemini-1', subject: 'Now', body: 'IMPORTANT', priority: 'urgent' })
    expect(JSON.parse(await hook('BeforeTool', check))).toMatchObject({ decision: 'deny' })
    expect(await hook('AfterTool', { tool_name: 'ls' })).toBe('')
    expect(await hook('AfterTool', subagent)).toContain('IMPORTANT')
    expect(await hook('BeforeTool', check)).toBe('')
    // One that never came back has ended with the turn.
    await hook('BeforeTool', subagent)
    await hook('AfterAgent')
    expect(await hook('BeforeTool', check)).toBe('')
  })

  it('is told at the first prompt of Gemini CLI what others are told at the start, even after it was killed', async () => {
    const space = await tempSpace()
    const begin = () => {
      const { run, kill } = startClient(space.dir, {})
      const hook = async (event: string) => (await run(`exec '${hookProgram}' gemini ${event}`)).stdout
      return { hook, kill }
    }
    const first = begin()
    const ada = await space.mailbox('ada')
    // Gemini CLI leaves what is said here out of a resumed session, with the prompt that follows.
    expect(await first.hook('SessionStart')).toBe('')
    await ada.send({ to: 'gemini-1', subject: 'FIRST MAIL', body: '-' })
    const told = await first.hook('BeforeAgent')
    expect(JSON.parse(told)).toMatchObject({ hookSpecificOutput: { hookEventName: 'BeforeAgent' } })
    expect(told).toContain('You are `gemini-1`')
    expect(told).toContain('FIRST MAIL')
    expect(await first.hook('BeforeAgent')).toBe('')
    await first.kill()
    const second = begin()
    expect(await second.hook('SessionStart')).toBe('')
    const again = await second.hook('BeforeAgent')
    expect(again).toContain('You are `gemini-1`')
    expect(again).toMatch(/Shown to your earlier run.*FIRST MAIL/)
  })

  it('asks Node nothing when Gemini CLI might compress, and remembers when it does', async () => {
    const space = await tempSpace()
    const { env, starts } = countingNode()
    const { run } = startClient(space.dir, env)
    const hook = (event: string, more: object = {}) => run(`exec '${hookProgram}' gemini ${event}`, more)
    await hook('SessionStart')
    const ada = await space.mailbox('ada')
    const { id } = await ada.send({ to: 'gemini-1', type: 'request', subject: 'THE WORK', body: '-' })
    await hook('BeforeAgent')
    await (await space.mailbox('gemini-1')).start(id)
    const before = starts()
    await hook('PreCompress', { trigger: 'auto' })
    expect(starts()).toBe(before)
    expect((await hook('BeforeAgent')).stdout).toBe('')
    await hook('PreCompress', { trigger: 'manual' })
    expect((await hook('BeforeAgent')).stdout).toContain('THE WORK')
  })
})
