import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { identifyProcess } from '../../src/base/process.ts'
import { type Box, createBox } from '../helpers/cli.ts'
import { untilStopped } from '../helpers/processes.ts'
import { minute } from '../helpers/scene.ts'
import { skipTest } from '../helpers/skip.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { agentNamed, byHand, journalOf, scene, startAgent, startSleeper } from './stage.ts'

/** Runs a command among processes of its own, where pids can be chosen. */
const [unshare, ...apart] = ['unshare', '--pid', '--fork', '--mount-proc'] as const
const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

function whoIs(pid: number): { pid: number; pidStart: string } {
  return { pid, pidStart: identifyProcess(pid).pidStart }
}

async function stateIn(box: Box, name: string): Promise<string> {
  const { agents } = await box.json('agents')
  return agents.find((agent) => agent.name === name)!.state
}

describe('liveness on one machine is exact where a pid is given', () => {
  it('a killed process is dead in `mailbox agents` at once', async () => {
    const box = await createBox()
    const shell = await startSleeper()
    await box.ok('join', 'ada', '--pid', String(shell.process.pid))
    expect(await stateIn(box, 'ada')).toBe('alive')
    shell.kill('SIGKILL')
    await shell.exit
    const { agents } = await box.json('agents')
    expect(agents.find(({ name }) => name === 'ada')).toMatchObject({
      state: 'dead',
      note: 'its process ended',
    })
  })

  it('whoever looks at the roster writes down what it finds out', async () => {
    const space = await tempSpace()
    const ada = await startAgent(space.dir, 'ada')
    await ada.kill()
    expect((await agentNamed(space, 'ada')).state).toBe('dead')
    expect((await journalOf(space)).at(-1)).toMatchObject({ kind: 'agent', change: 'died', by: 'system' })
    const before = await space.lastSeq()
    expect((await agentNamed(space, 'ada')).state).toBe('dead')
    expect(await space.lastSeq()).toBe(before)
  })

  it('a stopped process (SIGSTOP) is alive', async () => {
    const box = await createBox()
    const shell = await startSleeper()
    const pid = shell.process.pid!
    await box.ok('join', 'ada', '--pid', String(pid))
    shell.kill('SIGSTOP')
    await untilStopped(pid)
    expect(await stateIn(box, 'ada')).toBe('alive')
  })

  it('a process that has ended and that nobody has buried (a zombie) is dead', async () => {
    const box = await createBox()
    // The shell becomes `sleep`, which never asks how the child of the shell did.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void parent.kill('SIGKILL'))
    const [printed] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(printed.toString())
    await box.ok('join', 'ada', '--pid', String(pid))
    process.kill(pid, 'SIGKILL')
    while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) await new Promise(setImmediate)
    expect(await stateIn(box, 'ada')).toBe('dead')
  })

  it('a pid that belongs to another process now is not the old agent', async () => {
    const space = await tempSpace()
    const shell = await startSleeper()
    const { pid, pidStart } = whoIs(shell.process.pid!)
    // The same place, another time: what is left of an agent whose pid was given to somebody else.
    const older = `${pidStart.slice(0, pidStart.lastIndexOf('/'))}/1`
    const session = { pid, pidStart: older, host: hostname() }
    await space.join('ada', { session })
    expect((await agentNamed(space, 'ada')).session).toMatchObject({ pid, pidStart: older })
    expect((await agentNamed(space, 'ada')).state).toBe('dead')
    await space.join('bob', { session: { pid } })
    expect((await agentNamed(space, 'bob')).state).toBe('alive')
  })

  it('not even when the kernel really gives the pid to the next', () => {
    if (spawnSync(unshare, [...apart, 'true']).status !== 0)
      skipTest('needs `unshare --pid --fork --mount-proc`, which this system does not allow')
    const dir = tempDir()
    const { stdout, stderr } = spawnSync(
      unshare,
      [...apart, 'bash', fileURLToPath(new URL('reuse-pid.sh', import.meta.url))],
      { encoding: 'utf8', env: { ...process.env, MAILBOX_SPACE: dir, NODE: process.execPath, CLI: cli } },
    )
    expect(stdout.trim().split('\n'), stderr).toEqual(['alive', 'the same pid', 'dead', 'alive 2'])
  })

  it('a process of an earlier run of the machine has ended', async () => {
    const space = await tempSpace()
    const { pid, pidStart } = whoIs(process.pid)
    const before = `00000000${pidStart.slice(8)}`
    await space.join('ada', { session: { pid, pidStart: before, host: hostname() } })
    expect((await agentNamed(space, 'ada')).state).toBe('dead')
  })

  it('a process of another container is not taken for one of ours with the same pid', async () => {
    const { space, pass } = await scene()
    const { pid, pidStart } = whoIs(process.pid)
    const elsewhere = pidStart.replace(/\.\d+\//, '.1/')
    await space.join('ada', { session: { pid, pidStart: elsewhere, host: hostname() } })
    await pass(4 * minute)
    expect((await agentNamed(space, 'ada')).state).toBe('alive')
    await pass(2 * minute)
    expect(await agentNamed(space, 'ada')).toMatchObject({ state: 'dead', note: 'silent for 6 min' })
  })

  it('the library gives its pid by itself, and a second opener of the name is the same run', async () => {
    const space = await tempSpace()
    const first = await startAgent(space.dir, 'ada')
    expect((await agentNamed(space, 'ada')).session).toMatchObject({ generation: 1, pid: first.pid })
    const second = await startAgent(space.dir, 'ada')
    expect(second.generation).toBe(1)
    await first.kill()
    expect((await agentNamed(space, 'ada')).state).toBe('dead')
    const third = await startAgent(space.dir, 'ada')
    expect(third.generation).toBe(2)
  })
})

describe('across machines a heartbeat', () => {
  const far = { pid: 77, host: 'elsewhere', pidStart: 'abcdefab.1/99' }

  it('is alive as long as it beats, and dead 5 min after the last', async () => {
    const { space, pass } = await scene()
    await space.join('ada', { session: far })
    const ada = await space.mailbox('ada', { join: false })
    for (let beat = 0; beat < 5; beat++) {
      await pass(4 * minute)
      await ada.heartbeat()
    }
    expect((await agentNamed(space, 'ada')).state).toBe('alive')
    await pass(6 * minute)
    expect((await agentNamed(space, 'ada')).state).toBe('dead')
  })

  it('whatever it does is a sign of life', async () => {
    const { space, pass } = await scene()
    await space.join('ada', { session: far })
    const bob = await byHand(space, 'bob')
    const ada = await space.mailbox('ada', { join: false })
    for (let turn = 0; turn < 5; turn++) {
      await bob.send({ to: 'ada' })
      await pass(4 * minute)
      await ada.check()
    }
    expect((await agentNamed(space, 'ada')).state).toBe('alive')
  })
})

describe('an agent joined by hand, without a pid', () => {
  it('lives until it leaves, however many processes of the command line come and go', async () => {
    const box = await createBox()
    await box.ok('join', 'ada')
    await box.ok('check', '--as', 'ada')
    expect(await stateIn(box, 'ada')).toBe('alive')
    await box.ok('leave', 'ada')
    expect(await stateIn(box, 'ada')).toBe('dead')
  })
})
