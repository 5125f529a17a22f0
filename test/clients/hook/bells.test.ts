import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { countingNode } from '../../helpers/counting-node.ts'
import { type Running, startScript } from '../../helpers/processes.ts'
import { until } from '../../helpers/wait.ts'
import { hookStage, type Stage, stamps } from './stage.ts'

/** A stage on which another process is the desk, and the client has a bell. */
async function stageWithDesk(): Promise<Stage & { desk: Running }> {
  const stage = await hookStage()
  const desk = startScript(new URL('../../helpers/desk.mjs', import.meta.url), [stage.space.dir])
  await desk.line('desk')
  await bell(stage)
  return { ...stage, desk }
}

/** The client's stamp goes by its bell. On a busy machine the desk may not answer the first hook in time. */
const bell = ({ client, space }: Stage) =>
  until('the stamp goes by the bell', () => {
    rmSync(join(space.dir, 'hooks', 'stamps'), { recursive: true, force: true })
    client.hook('PostToolUse')
    return stamps(space).some((file) =>
      readFileSync(join(space.dir, 'hooks', 'stamps', file), 'utf8').startsWith('- '),
    )
  })

let sent = 0
async function send(desk: Running, message: { to: string; priority?: string; body?: string }): Promise<void> {
  const subject = `n${++sent}`
  desk.tell(JSON.stringify({ from: 'bob', subject, ...message }))
  await desk.line(new RegExp(`^sent \\S+ ${subject}$`))
}

const isCurrent = ({ space }: Stage) => existsSync(join(space.dir, 'desk', 'current'))

describe('in a space that others write to all the time', () => {
  it('a hook starts no Node for mail of others, and Node for its own', async () => {
    const stage = await stageWithDesk()
    const { client, desk } = stage
    // It joins, which concerns nobody else.
    await send(desk, { to: 'ada' })
    await bell(stage)
    const { env, starts } = countingNode()
    for (let n = 0; n < 5; n++) {
      await send(desk, { to: 'ada' })
      expect(client.hook('PostToolUse', { env })).toMatchObject({ code: 0, stdout: '', stderr: '' })
    }
    expect(starts()).toBe(0)
    await send(desk, { to: 'claude-1', body: 'IMPORTANT', priority: 'high' })
    expect(client.hook('PostToolUse', { env }).text).toContain('IMPORTANT')
    expect(starts()).toBe(1)
  })

  it('a hook misses nothing that is written past the desk', async () => {
    const stage = await stageWithDesk()
    const { client, ada } = stage
    const { env, starts } = countingNode()
    await ada.send({ to: 'user', subject: 'for somebody else' })
    await until('the desk has read it', () => isCurrent(stage))
    expect(client.hook('PostToolUse', { env }).stdout).toBe('')
    expect(starts()).toBe(0)
    for (let n = 0; n < 5; n++) {
      await ada.send({ to: 'claude-1', subject: 'Now', body: `IMPORTANT ${n}`, priority: 'high' })
      // With the bells as they are at this moment, whether the desk has read it or not.
      if (n % 2 === 0) await until('the desk has read it', () => isCurrent(stage))
      expect(client.hook('PostToolUse').text).toContain(`IMPORTANT ${n}`)
      await bell(stage)
    }
  })

  it('a hook misses nothing when the desk is killed or stopped', async () => {
    const stage = await stageWithDesk()
    const { client, ada, desk } = stage
    desk.kill('SIGSTOP')
    await ada.send({ to: 'claude-1', subject: 'Now', body: 'WHILE STOPPED', priority: 'high' })
    expect(client.hook('PostToolUse').text).toContain('WHILE STOPPED')
    desk.kill('SIGCONT')
    await bell(stage)
    desk.kill('SIGKILL')
    await desk.exit
    await ada.send({ to: 'claude-1', subject: 'Now', body: 'AFTER ITS DEATH', priority: 'high' })
    expect(client.hook('PostToolUse').text).toContain('AFTER ITS DEATH')
  })

  it('a bell can be read by a shell', async () => {
    const stage = await stageWithDesk()
    const { desk, space } = stage
    await send(desk, { to: 'claude-1', priority: 'low' })
    await send(desk, { to: 'claude-1' })
    const read = () => readFileSync(join(space.dir, 'desk', 'bells', 'claude-1'), 'utf8')
    await until('it has counted', () => /^\d+ 2 normal\n$/.test(read()))
  })
})
