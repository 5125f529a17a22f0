import { describe, expect, it, vi } from 'vitest'
import { inStorm } from '../helpers/storm.ts'
import { letPass, until } from '../helpers/wait.ts'
import { Terminal } from './terminal.ts'

// Limits only end what hangs; on a busy machine everything takes its time.
vi.setConfig({ testTimeout: 180_000 })

describe('a watcher that is killed', () => {
  it(
    'types nothing twice and loses nothing, whenever that happens',
    async () => {
      const terminal = await Terminal.open()
      const agents = ['ada', 'eve', 'kim'].map((name, at) => ({
        name,
        ...terminal.agent(name, { bracketed: at !== 1 }),
      }))
      const bob = await terminal.space.mailbox('bob')
      for (const { name, pane } of agents) {
        await until('it runs', () => terminal.screen(pane).includes('fake>'))
        const options = ['--pane', pane, '--program', 'fake-agent', '--quiet-ms', '0']
        expect(await terminal.run('attach', name, ...options).exit).toMatchObject({ code: 0 })
      }
      const each = inStorm(100, 6)
      const sent: { id: string; to: string }[] = []
      for (let at = 0; at < each; at++)
        for (const { name } of agents)
          sent.push({ id: (await bob.send({ to: name, body: `number ${at}` })).id, to: name })
      const isDone = async () => {
        for (const { name } of agents) {
          const mailbox = await terminal.space.mailbox(name, { join: false })
          if ((await mailbox.count()).unread > 0 || terminal.hasAttempt(name)) return false
        }
        return true
      }
      // The worker alone, started again at once: the supervisor would let a pause grow.
      let kills = -1
      while (!(await isDone())) {
        const worker = terminal.run('work')
        // Most are killed at work, some before they come to it.
        if (Math.random() < 0.8) await worker.line('beat')
        // Longer and longer, so that it comes to an end on a slow machine as well.
        await letPass(Math.random() * (400 + 60 * kills))
        worker.kill('SIGKILL')
        await worker.exit
        kills++
      }
      for (const { name, log } of agents) {
        const mine = sent.filter(({ to }) => to === name)
        await until('the last is in', () => log.submitted().length >= mine.length)
        const lines = log.submitted()
        const counts = mine.map(({ id }) => lines.filter((line) => line.includes(id)).length)
        expect(counts).toEqual(mine.map(() => 1))
        expect(lines).toHaveLength(mine.length)
        for (const { id } of mine)
          expect(await terminal.ladder(id, name)).toEqual(['stored', 'notified', 'shown'])
      }
      console.log(`${sent.length} messages, ${kills} kills, each typed once`)
      expect(kills).toBeGreaterThan(2)
    },
    inStorm(900_000, 180_000),
  )

  it('is back within seconds', async () => {
    const terminal = await Terminal.open()
    const { pane, log } = terminal.agent('ada')
    const bob = await terminal.space.mailbox('bob')
    const watcher = terminal.watch([`ada=${pane}`])
    const killed = new Set<number>()
    for (let round = 0; round < 2; round++) {
      const pid = await until('a new worker', () => {
        const found = terminal.workerPid()
        return found !== undefined && !killed.has(found) ? found : undefined
      })
      const { id } = await bob.send({ to: 'ada', body: `round ${round}` })
      killed.add(pid)
      process.kill(pid, 'SIGKILL')
      await until('it is shown', async () => (await terminal.state(id, 'ada')) === 'shown')
    }
    await until('both are in', () => log.submitted().length >= 2)
    expect(log.submitted()).toHaveLength(2)
    expect(watcher.stderr().match(/the worker ended \(SIGKILL\)/g)).toHaveLength(2)
  })

  it('is replaced when it is stopped and says nothing', async () => {
    const terminal = await Terminal.open()
    const { pane } = terminal.agent('ada')
    terminal.watch([`ada=${pane}`])
    const pid = await until('a worker', () => terminal.workerPid())
    // A worker that has not said anything yet gets much longer: it may have to build the index first.
    const first = terminal.heartbeatAt()
    await until('a second heartbeat', () => terminal.heartbeatAt() !== first)
    process.kill(pid, 'SIGSTOP')
    await until('another worker', () => terminal.workerPid() !== pid)
  })

  it('takes its worker with it when it is the supervisor, and the next one goes on', async () => {
    const terminal = await Terminal.open()
    const { pane, log } = terminal.agent('ada')
    const bob = await terminal.space.mailbox('bob')
    const watcher = terminal.watch([`ada=${pane}`])
    const pid = await until('a worker', () => terminal.workerPid())
    watcher.kill('SIGKILL')
    await watcher.exit
    await until('the worker has ended', () => !isThere(pid))
    expect(terminal.space.helpers()[0]?.state).toBe('down')
    const { id } = await bob.send({ to: 'ada', body: 'mail' })
    // Nothing is named: the pane is known from before.
    terminal.watch([], [])
    await until('it is shown', async () => (await terminal.state(id, 'ada')) === 'shown')
    await until('it is in', () => log.submitted().length >= 1)
    expect(log.submitted()).toHaveLength(1)
  })
})

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
