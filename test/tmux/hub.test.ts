import { expect, it, vi } from 'vitest'
import { stageHub } from '../helpers/hub.ts'
import { startProcess } from '../helpers/processes.ts'
import { until } from '../helpers/wait.ts'
import { Terminal } from './terminal.ts'

// Limits only end what hangs; on a busy machine everything takes its time.
vi.setConfig({ testTimeout: 180_000 })

const cli = new URL('../../dist/cli.cjs', import.meta.url)

it('types mail once, while the hub and the worker go and come back', async () => {
  const terminal = await Terminal.open({ throughHub: true })
  const { space, hub } = terminal
  const port = Number(new URL(hub!.url).port)
  const [ada, cy] = [terminal.agent('ada'), terminal.agent('cy')]
  const bob = await space.mailbox('bob')
  terminal.watch([`ada=${ada.pane}`, `cy=${cy.pane}`])
  await until('a worker', () => terminal.workerPid())
  const ids: string[] = []
  const send = async (body: string) => {
    for (const to of ['ada', 'cy']) ids.push((await bob.send({ to, body, requiresAck: true })).id)
  }
  await send('first')
  await until('both have the first', () => ada.log.submitted().length + cy.log.submitted().length === 2)
  await send('second')
  await hub!.stop()
  process.kill(await until('a worker', () => terminal.workerPid()), 'SIGKILL')
  await send('third')
  terminal.hub = await stageHub({ space, port })
  for (const { log } of [ada, cy]) {
    await until('all of it is there', () => log.submitted().length >= 3)
    expect(log.submitted().map((line) => /first|second|third/.exec(line)?.[0])).toEqual([
      ...['first', 'second', 'third'],
    ])
  }
  for (const [at, id] of ids.entries()) {
    const name = at % 2 === 0 ? 'ada' : 'cy'
    await until('it is acknowledged', async () => (await terminal.state(id, name)) === 'acked')
  }
})

it('acts for each agent with its own token, and for nobody without one', async () => {
  const terminal = await Terminal.open({ throughHub: true })
  const [ada, cy] = [terminal.agent('ada'), terminal.agent('cy')]
  const bob = await terminal.space.mailbox('bob')
  terminal.watch([`ada=${ada.pane}`, `cy=${cy.pane}`])
  await until('both are attached', () => terminal.doing('cy') && terminal.doing('ada'))
  // A new token ends the one that the watcher has.
  terminal.hub!.agentToken('ada')
  await bob.send({ to: 'ada', body: 'for ada' })
  await until('it says so', () => terminal.doing('ada')?.startsWith('the token is not valid'))
  const { id } = await bob.send({ to: 'cy', body: 'for cy' })
  await until('the other is served', async () => (await terminal.state(id, 'cy')) === 'shown')
  expect(ada.log.submitted()).toEqual([])
  const { pane } = terminal.agent('eve')
  const words = ['tmux', 'attach', 'eve', '--pane', pane, '--socket', terminal.socket, '--json']
  const refused = startProcess(cli, [...words, '--space', terminal.place], {
    env: { ...terminal.env, TMUX: '' },
  })
  expect(await refused.exit).toMatchObject({ code: 4 })
})

it('tells the sender in the name of the agent what could not be delivered', async () => {
  const terminal = await Terminal.open({ throughHub: true, settings: { maxAttempts: 2 } })
  const bob = await terminal.space.mailbox('bob')
  terminal.watch(['ada'], ['--exec', '[ "$MAILBOX_SPACE" != "" ] && exit 3'])
  await until('ada is attached', () => terminal.doing('ada'))
  const { id } = await bob.send({ to: 'ada', body: 'x', subject: 'Bad' })
  const letter = await bob.wait({ type: 'error', timeoutMs: 60_000 })
  expect(letter).toMatchObject({ from: 'ada', threadId: id, subject: 'Not delivered to ada: Bad' })
  expect(await terminal.ladder(id, 'ada')).toEqual(['stored', 'notified', 'failed'])
})

it('is the only one for its hub on this machine, and is missed here when it is down', async () => {
  const terminal = await Terminal.open({ throughHub: true })
  const { pane } = terminal.agent('ada')
  const ask = async (...words: string[]) => {
    const running = startProcess(cli, [...words, '--space', terminal.place], { env: terminal.env })
    const { code } = await running.exit
    return { code, said: running.lines.join('\n'), aside: running.stderr() }
  }
  const first = terminal.watch([`ada=${pane}`])
  await until('a worker', () => terminal.workerPid())
  const second = terminal.run('watch', `ada=${pane}`)
  expect(await second.exit).toMatchObject({ code: 5 })
  expect(await ask('tmux', 'status')).toMatchObject({ code: 0, said: expect.stringContaining('watcher up') })
  expect((await ask('doctor')).said).toMatch(/ok +tmux +the watcher is running, for 1 agent/)
  first.kill('SIGTERM')
  await first.exit
  const warning = 'watcher down: 1 agent gets its mail from it; start it: mailbox tmux watch'
  expect((await ask('agents')).aside).toContain(warning)
  expect((await ask('tmux', 'detach', 'ada')).said).toContain('detached ada')
})
