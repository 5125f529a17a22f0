import { it, onTestFinished } from 'vitest'
import { createAgentToken, tokensName } from '../../src/hub/tokens.ts'
import { changeShared } from '../../src/space/shared.ts'
import { freePort, hasPostgres, PostgresServer } from '../helpers/postgres.ts'
import { type Running, startScript } from '../helpers/processes.ts'
import { skipTest } from '../helpers/skip.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { letPass } from '../helpers/wait.ts'
import { Load } from './load.ts'

const program = new URL('../../dist/cli.cjs', import.meta.url)
const minute = 60_000

/**
 * Three machines, each with a copy and a way to the database of its own, and processes that send and claim on them and
 * through their hubs, while the server, the hubs and the processes are killed and the ways are cut.
 */
it('nothing acknowledged is lost or doubled through kills and cuts, and all machines have the same', {
  timeout: 30 * minute,
}, async () => {
  if (!hasPostgres()) skipTest('needs PostgreSQL: run `apt-get install -y postgresql` as root')
  const faults = campaignSize('machines', 200, 8)
  const campaign = new Campaign('machines', faults)
  // A campaign takes ten minutes, however fast the machine is.
  const everyMs = inStorm((10 * minute) / 200, 0)
  const server = await PostgresServer.create(tempDir())
  onTestFinished(() => server.stop('SIGQUIT'))
  const load = await Load.on(server.port, 3, inStorm(6, 1))
  const hubs = await Promise.all(load.machines.slice(0, 2).map((machine, at) => hubOn(load, machine, at)))
  await load.ready()
  const counts = { servers: 0, writers: 0, cuts: 0, hubs: 0 }
  for (let fault = 0; fault < faults; fault++) {
    const next = performance.now() + everyMs
    const at = Math.floor(fault / 4)
    if (fault % 4 === 0) {
      counts.writers++
      load.killWriter(at)
    } else if (fault % 4 === 1) {
      counts.cuts++
      await cutInCommit(load, at)
    } else if (fault % 4 === 2) {
      counts.servers++
      await server.stop('SIGQUIT')
      await server.start()
    } else {
      counts.hubs++
      await hubs[at % 2]!.restart()
    }
    // Something gets through before the next fault.
    await load.goesOn()
    campaign.progress(fault + 1, counts)
    await letPass(Math.max(0, next - performance.now()))
  }
  // A hub does what is due, so the journal would go on.
  for (const hub of hubs) load.beforeCheck(hub.stop)
  const found = await load.check()
  campaign.end({
    ...{ faults, 'servers killed': counts.servers, 'hubs killed': counts.hubs },
    ...{ 'writers killed': counts.writers, 'commits cut': counts.cuts, ...found },
  })
})

/** The next call that appends is cut: when the server has it, or before its answer is there. */
async function cutInCommit({ machines }: Load, at: number): Promise<void> {
  const { proxy } = machines[at % machines.length]!
  await new Promise<void>((cut) => {
    let isDone = false
    const now = () => {
      if (isDone) return false
      isDone = true
      setImmediate(() => {
        proxy.cut()
        proxy.restore()
        cut()
      })
      return true
    }
    if (at % 2 === 0) proxy.cutsAfter = (question) => question.includes('mailbox.append') && now()
    else proxy.cutsAnswer = (answer) => answer.includes('appended') && now()
  })
  proxy.cutsAfter = () => false
  proxy.cutsAnswer = () => false
}

/** `mailbox serve` on a machine, and a writer that knows nothing but its address. */
async function hubOn(load: Load, { url, dir }: Load['machines'][number], at: number) {
  const port = String(await freePort())
  const start = async (): Promise<Running> => {
    for (;;) {
      const hub = startScript(program, ['--space', dir, 'serve', '--port', port], {
        env: { MAILBOX_SPACE: url, HOME: dir },
      })
      const isUp = await hub.line(/^open /).catch(() => undefined)
      if (isUp !== undefined) return hub
    }
  }
  let hub = await start()
  const name = `h${at}`
  const token = await changeShared(dir, tokensName, () => createAgentToken(dir, name))
  load.add(name, { url: `http://127.0.0.1:${port}`, where: token })
  const stop = async () => {
    hub.kill('SIGKILL')
    await hub.exit
  }
  return {
    stop,
    async restart() {
      await stop()
      hub = await start()
    },
  }
}
