import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { remember, runnerOf, stopRemembered } from '../../src/bridges/remembered.ts'
import { startScript } from '../helpers/processes.ts'
import { runVerb } from '../helpers/run-verb.ts'
import { tempDir, tempSpace, testSettings } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import { mailOf } from './stage.ts'

const cli = new URL('../../dist/cli.cjs', import.meta.url)
const library = new URL('../helpers/desk.mjs', import.meta.url)

/** A space that remembers a bridge, which nobody runs yet. */
async function scene(format = 'ao') {
  const home = tempDir()
  const space = await tempSpace()
  await space.join('zoe')
  const { dir } = space
  writeFileSync(join(dir, 'config.json'), JSON.stringify(testSettings), { mode: 0o600 })
  const folder = join(home, 'folder')
  mkdirSync(folder)
  const bridge = remember(dir, { format, path: folder, direction: 'both', runs: true })
  const env = { HOME: home, MAILBOX_AGENT: '' }
  const start = (...words: string[]) => startScript(cli, ['--space', dir, ...words], { env })
  const runner = () => runnerOf(dir, bridge.id)?.process
  const run = async (...words: string[]) =>
    JSON.parse((await runVerb({ words, as: 'user' }, { dir, home })).stdout) as Record<string, unknown>
  const isRunBy = ({ process }: ReturnType<typeof start>) =>
    until(`${process.pid} runs the bridge`, () => runner() === process.pid)
  return { home, space, dir, folder, bridge, env, start, run, runner, isRunBy }
}

/** Writes a message as a session of ao does. */
function drop(folder: string, n: number): void {
  const id = `theirs-${String(n).padStart(3, '0')}`
  const message = { id, from: 'ao-10', to: 'zoe', type: 'text', payload: { text: id } }
  const path = join(folder, 'zoe/inbox', `${id}.json`)
  writeFileSync(`${path}.tmp`, JSON.stringify({ ...message, timestamp: new Date().toISOString() }))
  renameSync(`${path}.tmp`, path)
}

const letters = 40
const all = (word: string) =>
  Array.from({ length: letters }, (_, n) => `${word}-${String(n).padStart(3, '0')}`)

describe('bridges, without a hub', () => {
  it('are run by a process that stays, and by the next when it is killed in the middle of an exchange', async () => {
    const { space, folder, dir, bridge, start, run, isRunBy } = await scene()
    for (const name of ['ao-10', 'zoe']) mkdirSync(join(folder, name, 'inbox'), { recursive: true })
    const first = start('watch', '--as', 'zoe')
    await isRunBy(first)
    expect(await run('bridge')).toMatchObject({
      bridges: [{ state: 'running', process: first.process.pid, where: 'mailbox watch' }],
    })
    const next = start('mcp', '--as', 'zoe')
    await until(async () => (await space.agents()).some(({ name }) => name === 'ao-10'))
    const zoe = await space.mailbox('zoe', { join: false })
    for (let n = 0; n < letters; n++) {
      drop(folder, n)
      await zoe.send({ to: 'ao-10', body: all('ours')[n]! })
      if (n === letters / 2) first.kill('SIGKILL')
    }
    const there = () => readdirSync(join(folder, 'ao-10/inbox')).filter((file) => file.endsWith('.json'))
    await isRunBy(next)
    await until('all of it is here', async () => (await mailOf(space, 'zoe')).length >= letters)
    await until('all of it is there', () => there().length >= letters)
    expect((await mailOf(space, 'zoe')).map(({ body }) => body).sort()).toEqual(all('theirs'))
    const written = there().map((file) => readFileSync(join(folder, 'ao-10/inbox', file), 'utf8'))
    const texts = written.map((text) => (JSON.parse(text) as { payload: { text: string } }).payload.text)
    expect(texts.sort()).toEqual(all('ours'))
    // A clean end, too: what it was for goes on elsewhere.
    const last = start('wait', '--as', 'zoe', '--from', 'nobody', '--timeout', 'forever')
    next.process.stdin!.end()
    await next.exit
    await isRunBy(last)
    stopRemembered(dir, bridge)
    await until(() => runnerOf(dir, bridge.id) === undefined)
    expect(last.process.exitCode).toBe(null)
  })

  it('are not run by a program that is the desk with the library; in the foreground they go on when another ends', async () => {
    const { dir, env, folder, start, run, isRunBy } = await scene()
    await startScript(library, [dir], { env }).line('desk')
    const watch = start('watch', '--as', 'zoe')
    await isRunBy(watch)
    const foreground = start('bridge', 'ao', folder)
    expect(await foreground.line(/runs the bridge/)).toContain(
      `mailbox watch (process ${watch.process.pid}) runs the bridge to ${folder}, and this process when`,
    )
    watch.kill('SIGKILL')
    await isRunBy(foreground)
    await run('bridge', 'stop', 'ao')
    expect((await foreground.exit).code).toBe(0)
  })

  it('bring what is for others, whoever the process may act as', async () => {
    const { space, folder, start, runner } = await scene('adr003')
    // What this process starts runs in the client of an agent.
    await space.join('claude-1', { session: { client: 'claude', pid: process.pid } })
    await space.join('worker')
    mkdirSync(join(folder, 'mailboxes/worker/inbox'), { recursive: true })
    mkdirSync(join(folder, 'swarms/blue/agents'), { recursive: true })
    writeFileSync(join(folder, 'swarms/blue/agents/worker.md'), '# worker\n')
    start('watch', '--as', 'claude-1')
    await until(() => runner())
    const tags = async () => (await space.agents()).find(({ name }) => name === 'worker')!.tags
    await until(async () => (await tags()).includes('swarm:blue'))
  })

  it('disturb nothing when they fail, and say why', async () => {
    const { space, dir, bridge, start, run } = await scene()
    // What it knows cannot be opened.
    mkdirSync(join(dir, 'bridges', bridge.id, 'memory.db'))
    const watch = start('watch', '--as', 'zoe')
    const failed = async () => (await run('bridge'))['bridges'] as { state: string; error?: string }[]
    await until(async () => (await failed())[0]?.error !== undefined)
    expect((await failed())[0]!.state).toBe('waiting')
    await (await space.mailbox('bob')).send({ to: 'zoe', subject: 'still here', body: 'x' })
    await watch.line(/still here/)
    const { checks } = (await run('doctor')) as { checks: { check: string; found: string }[] }
    expect(checks.find(({ check }) => check === 'bridge')!.found).toMatch(/is not running: ./)
  })
})
