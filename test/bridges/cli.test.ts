import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startScript } from '../helpers/processes.ts'
import { runVerb } from '../helpers/run-verb.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const cli = new URL('../../dist/cli.cjs', import.meta.url)

function scene() {
  const home = tempDir()
  const dir = join(home, 'space')
  const folder = join(home, '.ao-sessions')
  mkdirSync(join(folder, 'ao-10/inbox'), { recursive: true })
  const run = async (...words: string[]) => {
    const { status, stdout, stderr } = await runVerb({ words, as: 'user' }, { dir, home })
    return { status, stderr, answer: JSON.parse(stdout || 'null') as Record<string, unknown> }
  }
  const drop = (name: string, more: object = {}) =>
    writeFileSync(
      join(folder, 'ao-10/inbox', `${name}.json`),
      JSON.stringify({ id: name, from: 'ao-1', to: 'ao-10', type: 'text', payload: { text: name }, ...more }),
    )
  const start = (...words: string[]) =>
    startScript(cli, ['--space', dir, ...words], { env: { HOME: home, MAILBOX_AGENT: 'user' } })
  return { home, dir, folder, run, drop, start }
}

describe('mailbox bridge', () => {
  it('says what --once would do, does it, and lists it', async () => {
    const { run, drop, folder } = scene()
    drop('one')
    await run('join', 'zoe')
    const dry = await run('bridge', 'ao', folder, '--once', '--dry-run')
    expect(dry).toMatchObject({ status: 0, answer: { brought: 1, dryRun: true } })
    expect((await run('search', 'one')).answer['messages']).toEqual([])
    expect(await run('bridge')).toMatchObject({ answer: { bridges: [], found: [{ format: 'ao' }] } })
    expect((await run('bridge', 'ao', folder, '--once')).answer).toMatchObject({ brought: 1, agents: 2 })
    expect((await run('bridge', 'ao', folder, '--once')).answer).toMatchObject({ brought: 0, agents: 0 })
    expect((await run('bridge')).answer).toMatchObject({ bridges: [{ format: 'ao', state: 'stopped' }] })
  })

  it('makes no space to say what it would do, and says when a folder has nothing of the format', async () => {
    const { run, drop, folder, dir, home } = scene()
    drop('one')
    const dry = await run('bridge', 'ao', folder, '--once', '--dry-run')
    expect(dry).toMatchObject({ status: 0, answer: { brought: 1, agents: 2, dryRun: true } })
    expect(existsSync(dir)).toBe(false)
    expect(dry.stderr).not.toContain('nothing of')
    const other = await run('bridge', 'adr003', home, '--once', '--dry-run')
    expect(other).toMatchObject({ status: 0, stderr: expect.stringContaining('nothing of adr003 is in') })
  })

  it('goes one way if told so', async () => {
    const { run, drop, folder } = scene()
    await run('join', 'zoe')
    await run('bridge', 'ao', folder, '--once')
    drop('one')
    await run('send', 'ao-10', '--body', 'hello')
    expect((await run('bridge', 'ao', folder, '--once', '--direction', 'out')).answer).toMatchObject({
      ...{ brought: 0, written: 1 },
    })
    expect((await run('bridge', 'ao', folder, '--once', '--direction', 'in')).answer).toMatchObject({
      brought: 1,
    })
    expect(readdirSync(join(folder, 'ao-10/inbox'))).toHaveLength(2)
  })

  it('names the formats it knows, and the folder that is missing', async () => {
    const { run, home } = scene()
    await run('join', 'zoe')
    const wrong = await run('bridge', 'oa', home)
    expect(wrong).toMatchObject({ status: 2 })
    expect(JSON.stringify(wrong.answer)).toContain('did you mean ao?')
    expect((await run('bridge', 'ao', join(home, 'nowhere'))).status).not.toBe(0)
  })

  it('runs in the foreground until it is stopped, and doctor says how it is', {
    timeout: 60_000,
  }, async () => {
    const { run, drop, folder, start } = scene()
    await run('join', 'zoe')
    const bridge = start('bridge', 'ao', folder)
    await bridge.line(/bridged ao/)
    drop('live')
    await until(async () => ((await run('search', 'live')).answer['messages'] as unknown[]).length === 1)
    const found = async () => {
      const checks = (await run('doctor')).answer['checks'] as {
        check: string
        state: string
        found: string
      }[]
      return checks.find(({ check }) => check === 'bridge')!
    }
    // A message that was there before the bridge says nothing of how fast it is.
    drop('later', { timestamp: new Date().toISOString() })
    await until(async () => /is running, lag \d+ ms in/.test((await found()).found))
    expect((await found()).state).toBe('ok')
    await run('bridge', 'stop', 'ao')
    expect((await bridge.exit).code).toBe(0)
    expect((await run('bridge')).answer).toMatchObject({ bridges: [{ state: 'stopped' }] })
  })

  it('is run by a hub, also when it was set up before', { timeout: 60_000 }, async () => {
    const { run, drop, folder, start } = scene()
    await run('join', 'zoe')
    const hub = start('serve', '--port', '0')
    await hub.line(/stop {4}Ctrl-C/)
    expect((await run('bridge', 'ao', folder)).answer).toMatchObject({ process: hub.process.pid })
    drop('live')
    await until(async () => ((await run('search', 'live')).answer['messages'] as unknown[]).length === 1)
    hub.kill('SIGKILL')
    await hub.exit
    drop('later')
    start('serve', '--port', '0')
    await until(async () => ((await run('search', 'later')).answer['messages'] as unknown[]).length === 1)
  })
})
