import { expect, it, vi } from 'vitest'
import { createBox } from '../helpers/cli.ts'
import { startProcess } from '../helpers/processes.ts'
import { needTool } from '../helpers/tools.ts'
import { until } from '../helpers/wait.ts'
import { Terminal } from './terminal.ts'

// Limits only end what hangs; on a busy machine everything takes its time.
vi.setConfig({ testTimeout: 180_000 })

const cli = new URL('../../dist/cli.cjs', import.meta.url)

it('serves twenty panes with one process', async () => {
  const terminal = await Terminal.open()
  const agents = Array.from({ length: 20 }, (_, at) => ({ name: `a${at}`, ...terminal.agent(`a${at}`) }))
  const bob = await terminal.space.mailbox('bob')
  terminal.watch(agents.map(({ name, pane }) => `${name}=${pane}`))
  await until('all are attached', () => terminal.doing('a19'))
  const pid = terminal.workerPid()
  await bob.broadcast({ body: 'to all of you' })
  for (const { name } of agents) for (const n of [1, 2]) await bob.send({ to: name, body: `letter ${n}` })
  for (const { name, log } of agents) {
    await until(`${name} has its mail`, () => log.submitted().length >= 3)
    expect(log.submitted().filter((line) => line.includes('to all of you'))).toHaveLength(1)
    expect(log.submitted()).toHaveLength(3)
  }
  expect(terminal.workerPid()).toBe(pid)
})

it('lets one process watch a space, and takes the right from nobody who lives', async () => {
  const terminal = await Terminal.open()
  const { pane } = terminal.agent('ada')
  const first = terminal.watch([`ada=${pane}`])
  await until('a worker', () => terminal.workerPid())
  first.kill('SIGSTOP')
  const second = terminal.run('watch', `eve=${pane}`)
  expect(await second.exit).toMatchObject({ code: 5 })
  expect(second.lines.join()).toContain('a watcher is already running')
  // Not even the panes of the first were touched.
  expect(terminal.space.helpers()).toMatchObject([{ id: 'tmux', agents: 1 }])
  first.kill('SIGCONT')
})

it('is missed when it is down: by stats, agents, doctor and its own status', async () => {
  const terminal = await Terminal.open()
  const { pane } = terminal.agent('ada')
  expect((await terminal.space.stats()).warnings).toEqual([])
  const watcher = terminal.watch([`ada=${pane}`])
  await until('a worker', () => terminal.workerPid())
  expect((await terminal.space.stats()).warnings).toEqual([])
  watcher.kill('SIGTERM')
  await watcher.exit
  const warning = 'watcher down: 1 agent gets its mail from it; start it: mailbox tmux watch'
  expect((await terminal.space.stats()).warnings).toEqual([warning])
  const ask = async (...words: string[]) => {
    const running = startProcess(cli, [...words, '--space', terminal.spaceDir])
    await running.exit
    return { said: running.lines.join('\n'), aside: running.stderr() }
  }
  expect((await ask('agents')).aside).toContain(warning)
  expect((await ask('stats')).aside).toContain(warning)
  expect((await ask('doctor')).said).toMatch(/warn +tmux +the watcher is down/)
  const { said, aside } = await ask('tmux', 'status')
  expect(said).toContain('watcher down')
  expect(said).toMatch(/ada +0 +not watched/)
  expect(aside).toContain(warning)
  expect((await ask('tmux', 'detach', 'ada')).said).toContain('detached ada')
  expect((await terminal.space.stats()).warnings).toEqual([])
})

it('attaches the pane that it is typed in', async () => {
  const terminal = await Terminal.open()
  const pane = terminal.pane('sh')
  const words = ['tmux', 'attach', 'ada', '--space', terminal.spaceDir]
  terminal.keys(pane, '-l', [process.execPath, cli.pathname, ...words].join(' '))
  terminal.keys(pane, 'Enter')
  await until('it is attached', () => terminal.screen(pane).includes(`mail for ada goes to ${pane}`))
  const [ada] = (await terminal.space.agents()).filter(({ name }) => name === 'ada')
  expect(ada!.session).toMatchObject({ client: 'tmux' })
  expect(terminal.space.helpers()).toMatchObject([{ id: 'tmux', state: 'down', agents: 1 }])
})

it('refuses what it cannot do, and says what to do instead', async () => {
  needTool('tmux')
  const box = await createBox()
  expect(await box.refused(2, 'tmux', 'watch')).toMatchObject({ message: 'no agents to watch for' })
  expect(await box.refused(2, 'tmux', 'watch', 'ada')).toMatchObject({
    hint: 'use ada=%3 for a pane, or --exec for a command',
  })
  expect(await box.refused(2, 'tmux', 'watch', 'ada=')).toMatchObject({ code: 'invalid' })
  expect(await box.refused(2, 'tmux', 'attach', 'ada')).toMatchObject({ message: 'not inside a tmux pane' })
  expect(await box.refused(3, 'tmux', 'detach', 'ada')).toMatchObject({
    hint: 'list attached agents: mailbox tmux status',
  })
  const missing = await box.refused(3, 'tmux', 'watch', 'ada=%3', '--socket', `${box.dir}/none`)
  expect(missing.message).toBe('tmux has no pane "%3"')
  expect(await box.refused(2, 'tmux', 'attach', 'ada', '--pane', '%3', '--prompt', '(')).toMatchObject({
    message: '"(" is not a regular expression',
  })
})
