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
  return { run, pid: running.process.pid }
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
      expect((await direct('SessionStart')).stdout).toContain(`You are \`${client}-1\``)
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
