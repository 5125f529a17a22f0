import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findSpace } from '../../../src/space/settings.ts'
import { trustSpace } from '../../../src/space/trust.ts'
import { countingNode } from '../../helpers/counting-node.ts'
import { segmentFile } from '../../helpers/segments.ts'
import { tempDir } from '../../helpers/temp.ts'
import { needTool } from '../../helpers/tools.ts'
import { ageJournal, FakeClient, hookProgram, hookStage, type Stage, stamps } from './stage.ts'

/** The journal has been at rest for long enough that a stamp can be made, and one is made. */
function quieten({ client, space }: Stage): void {
  ageJournal(space)
  client.hook('PostToolUse')
  expect(stamps(space)).not.toEqual([])
}

const afterTool = (client: FakeClient, options: Parameters<FakeClient['hook']>[1] = {}) =>
  client.hook('PostToolUse', options)

const shells = ['dash', 'bash', 'bash --posix', 'busybox sh']

describe('the quick path', () => {
  it('starts no Node while nothing has come, and Node as soon as something has', async () => {
    const stage = await hookStage()
    const { client, ada } = stage
    const { env, starts } = countingNode()
    quieten(stage)
    for (let n = 0; n < 5; n++)
      expect(afterTool(client, { env })).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(starts()).toBe(0)
    await ada.send({ to: 'claude-1', subject: 'Now', body: 'IMPORTANT', priority: 'high' })
    expect(afterTool(client, { env }).text).toContain('IMPORTANT')
    expect(starts()).toBe(1)
    const dir = join(stage.space.dir, 'hooks')
    for (const path of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
      expect(statSync(join(dir, path)).mode & 0o077, path).toBe(0)
  })

  it('is the same in every shell that may be sh', async () => {
    const stage = await hookStage()
    const { client, ada } = stage
    const { env, starts } = countingNode()
    quieten(stage)
    for (const shell of shells) {
      needTool(shell.split(' ')[0]!)
      expect(afterTool(client, { env, shell }), shell).toMatchObject({ code: 0, stdout: '', stderr: '' })
    }
    expect(starts()).toBe(0)
    for (const shell of shells) {
      await ada.send({ to: 'claude-1', subject: 'Now', body: `FOR ${shell}`, priority: 'high' })
      expect(afterTool(client, { env, shell }).text).toContain(`FOR ${shell}`)
    }
  })

  it('starts no process at all but the shell, and leaves standard input alone', async () => {
    needTool('strace')
    const stage = await hookStage()
    quieten(stage)
    const env = { ...process.env, ...stage.client.env }
    const log = join(tempDir(), 'trace')
    const words = ['-f', '-qq', '-o', log, '-e', 'trace=process', hookProgram, 'claude', 'PostToolUse']
    expect(spawnSync('strace', words, { env, input: 'x' }).status).toBe(0)
    const calls = readFileSync(log, 'latin1')
    expect(calls.match(/\bexecve\(/g)).toHaveLength(1)
    expect(calls).not.toMatch(/\b(v?fork|clone3?)\(/)
    const script = `'${hookProgram}' claude PostToolUse; exec cat`
    expect(spawnSync('sh', ['-c', script], { env, input: 'untouched', encoding: 'utf8' }).stdout).toBe(
      'untouched',
    )
  })

  it('is left when the next segment has been opened', async () => {
    const stage = await hookStage()
    const { env, starts } = countingNode()
    quieten(stage)
    // A writer that has only just begun it.
    const next = segmentFile(stage.space.dir, 2)
    writeFileSync(next, '')
    afterTool(stage.client, { env })
    expect(starts()).toBe(1)
    rmSync(next)
  })

  it('is left when the segment has another time, be it earlier: a clock may have been set back', async () => {
    const stage = await hookStage()
    const { client, ada, space } = stage
    const { env, starts } = countingNode()
    quieten(stage)
    await ada.send({ to: 'claude-1', subject: 'Now', body: 'FROM THE PAST', priority: 'high' })
    const anHourAgo = statSync(segmentFile(space.dir)).mtimeMs / 1_000 - 3_600
    utimesSync(segmentFile(space.dir), anHourAgo, anHourAgo)
    expect(afterTool(client, { env }).text).toContain('FROM THE PAST')
    expect(starts()).toBe(1)
  })

  it('is not taken when an append could still get the time of the last one', async () => {
    const { client, space } = await hookStage()
    // As if the last append were just now, however long the hook takes.
    const soon = Date.now() / 1_000 + 60
    utimesSync(segmentFile(space.dir), soon, soon)
    afterTool(client)
    expect(stamps(space)).toEqual([])
    const before = soon - 120
    utimesSync(segmentFile(space.dir), before, before)
    afterTool(client)
    expect(stamps(space)).not.toEqual([])
  })

  it('is left once a minute, for what becomes due by itself', async () => {
    const stage = await hookStage()
    const { env, starts } = countingNode()
    quieten(stage)
    const [name] = stamps(stage.space)
    const path = join(stage.space.dir, 'hooks', 'stamps', name!)
    const { mtimeMs } = statSync(path)
    const [segment, next, due] = readFileSync(path, 'utf8').trim().split(' ')
    expect(Number(due)).toBeGreaterThan(0)
    writeFileSync(path, `${segment} ${next} 0\n`)
    utimesSync(path, mtimeMs / 1_000, mtimeMs / 1_000)
    afterTool(stage.client, { env })
    expect(starts()).toBe(1)
  })

  it('keeps mail that can wait for the end of the turn, and does not forget it', async () => {
    const stage = await hookStage()
    const { client, ada } = stage
    await ada.send({ to: 'claude-1', subject: 'Later', body: 'NO HURRY', awaitingResponse: true })
    quieten(stage)
    const { env, starts } = countingNode()
    expect(afterTool(client, { env }).text).toBe('')
    expect(starts()).toBe(0)
    expect(client.hook('Stop').text).toContain('NO HURRY')
  })

  it('is taken for the tools of a subagent as well, but not while there is something for its agent', async () => {
    const { client, ada, space } = await hookStage()
    const { env, starts } = countingNode()
    const subagent = { env, input: { agent_id: 'sub' } }
    ageJournal(space)
    afterTool(client, subagent)
    expect(stamps(space)).not.toEqual([])
    const before = starts()
    afterTool(client, subagent)
    expect(starts()).toBe(before)
    await ada.send({ to: 'claude-1', subject: 'Now', body: 'IMPORTANT', priority: 'high' })
    ageJournal(space)
    expect(afterTool(client, subagent).stdout).toBe('')
    expect(afterTool(client).text).toContain('IMPORTANT')
  })

  it('removes the stamps of processes that are no more', async () => {
    const stage = await hookStage()
    quieten(stage)
    const before = stamps(stage.space)
    stage.client.end()
    await new Promise((resolve) => stage.client.process.once('close', resolve))
    new FakeClient(stage.space, 'another').hook('SessionStart')
    for (const name of before) expect(stamps(stage.space)).not.toContain(name)
  })
})

describe('the space that hook.sh finds', () => {
  it('is the one that the command line finds, if it is there', () => {
    const root = tempDir()
    const home = join(root, 'home')
    const deep = join(root, 'a', 'b c', 'd')
    mkdirSync(deep, { recursive: true })
    const printer = join(root, 'print')
    writeFileSync(printer, '#!/bin/sh\ncd "$4" && pwd\n')
    chmodSync(printer, 0o755)
    const found = (env: Record<string, string>) =>
      spawnSync(hookProgram, ['claude', 'Stop'], {
        ...{ cwd: root, encoding: 'utf8', input: '{}' },
        env: {
          PATH: process.env['PATH'],
          HOME: home,
          CLAUDE_PROJECT_DIR: deep,
          MAILBOX_NODE: printer,
          ...env,
        },
      }).stdout.trim()
    const named: Record<string, string>[] = [
      {},
      { MAILBOX_SPACE: join(root, 'named') },
      { MAILBOX_SPACE: '../../../named' },
    ]
    const check = () => {
      for (const env of named) {
        const { dir: meant } = findSpace({ env: { HOME: home, ...env }, cwd: deep })
        expect(found(env)).toBe(existsSync(meant) ? meant : '')
      }
    }
    check()
    for (const parent of [home, join(root, 'a'), deep]) {
      mkdirSync(join(parent, '.mailbox', 'journal'), { recursive: true })
      check()
      trustSpace(join(parent, '.mailbox'), { HOME: home })
      check()
    }
    const { dir } = findSpace({ env: { HOME: home }, cwd: deep })
    expect(dir).toBe(join(deep, '.mailbox'))
    mkdirSync(join(root, 'named', 'journal'), { recursive: true })
    check()
  })
})
