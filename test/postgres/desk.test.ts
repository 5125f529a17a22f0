import { describe, expect, it, onTestFinished } from 'vitest'
import { monotonicMs } from '../../src/base/timers.ts'
import type { Hello } from '../../src/desk/hello.ts'
import { DeskLink } from '../../src/desk/link.ts'
import { GoDirect } from '../../src/desk/wire.ts'
import { linkTo } from '../../src/journal/copy/origin.ts'
import { parseAddress } from '../../src/journal/postgres/address.ts'
import type { PostgresJournal } from '../../src/journal/postgres/postgres-journal.ts'
import { handle } from '../../src/space/desk/handle.ts'
import { findMailboxAtDesk } from '../../src/space/desk/mailbox-at-desk.ts'
import { sendDirectly } from '../../src/space/mailbox/sending.ts'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { freshAddress, sharedServer } from '../helpers/postgres.ts'
import { startScript } from '../helpers/processes.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

/** The directory of a machine for a space in the database. */
function machineOf(url: string): string {
  const dir = tempDir()
  linkTo(parseAddress(url), dir)
  return dir
}

/** A process of a machine that takes part in the desk. */
async function opener(dir: string): Promise<DiskSpace> {
  const space = await tempSpace({ dir })
  space.core.desk!.takePart()
  return space
}

/** A machine with a desk, and another process of it that knows the desk. */
async function machineWithDesk(url?: string): Promise<{ desk: DiskSpace; sender: DiskSpace }> {
  const dir = machineOf(url ?? (await freshAddress()))
  const desk = await opener(dir)
  await until('there is a desk', () => desk.core.desk!.isDesk)
  const sender = await opener(dir)
  await until('the sender knows it', () => sender.core.desk!.knowsDesk)
  await desk.join('ada')
  await desk.join('bob')
  return { desk, sender }
}

const subjectsFor = async (space: DiskSpace, name: string) =>
  (await space.mailboxInside(name).inbox({ limit: 500 })).messages.map(({ subject }) => subject)

/** How often a process has written to the journal itself. */
function countAppends({ core: { journal } }: DiskSpace): () => number {
  const append = journal.append.bind(journal)
  let appends = 0
  journal.append = (...words) => {
    appends++
    return append(...words)
  }
  return () => appends
}

const greetingFor = (dir: string, hello: Hello) => {
  const link = new DeskLink(dir, hello)
  onTestFinished(() => link.close())
  return link.greeting
}

const storeOf = ({ core }: DiskSpace) => (core.journal as PostgresJournal).store

describe('the desk of a machine', () => {
  it('writes for the other processes, without one that finds another at a lock', async () => {
    const { desk, sender } = await machineWithDesk()
    const bob = await sender.mailbox('bob')
    const [own, atDesk] = [countAppends(sender), countAppends(desk)]
    await until('the desk writes what the sender sends', async () => {
      const before = own()
      await Promise.all([1, 2, 3].map((n) => bob.send({ to: 'ada', subject: `${n}`, body: 'x' })))
      return own() === before
    })
    expect(atDesk()).toBeGreaterThan(0)
    expect(await subjectsFor(sender, 'ada')).toEqual(await subjectsFor(desk, 'ada'))
    expect((await sender.verify({ deep: true })).problems).toEqual([])
  })

  it('keeps no bell, and takes no mail for a hook: other machines write as well', async () => {
    const { desk } = await machineWithDesk()
    const by = { name: 'ada', pid: process.pid }
    const ask = (verb: string) =>
      handle(desk.core, { n: 1, verb, by, until: monotonicMs() + 60_000, args: [{}] })
    expect(await ask('bell')).toBeUndefined()
    await expect(ask('takeAll')).rejects.toThrow(GoDirect)
  })

  it('is not asked by whoever comes as another user, or to another server', async () => {
    const { desk } = await machineWithDesk()
    const { hello } = desk.core.desk!
    expect(await greetingFor(desk.dir, hello)).toBeDefined()
    const address = hello.address!.replace('tester@', 'other@')
    expect(await greetingFor(desk.dir, { ...hello, address })).toBeUndefined()
    const { address: _, ...local } = hello
    expect(await greetingFor(desk.dir, local)).toBeUndefined()
  })
})

describe('a message that the desk was asked to send', () => {
  it('is not written a second time when its sender was faster, also if the desk has to start anew', async () => {
    const { desk, sender } = await machineWithDesk()
    const ids = [sender.core.newId(), sender.core.newId()]
    const since = sender.core.mark()
    const inputs = ids.map((_, n) => ({ to: 'ada', subject: `${n}`, body: 'x' }))
    const store = storeOf(desk)
    const append = store.append.bind(store)
    let isOvertaken = false
    // While the call of the desk is on its way, the first message is sent directly.
    store.append = async (...words) => {
      if (!isOvertaken) {
        isOvertaken = true
        await sendDirectly({ core: sender.core, name: 'bob' }, inputs[0]!, { id: ids[0]!, since })
      }
      return append(...words)
    }
    const by = { name: 'bob', pid: process.pid }
    const asked = ids.map((id, n) =>
      handle(desk.core, {
        ...{ n, verb: 'send', by, id, since: since.seq, until: monotonicMs() + 60_000 },
        args: [inputs[n]],
      }),
    )
    const [first, second] = await Promise.allSettled(asked)
    expect(first).toMatchObject({ status: 'rejected', reason: expect.any(GoDirect) })
    expect(second).toMatchObject({ status: 'fulfilled' })
    expect((await subjectsFor(desk, 'ada')).sort()).toEqual(['0', '1'])
  })

  it('is told as not known when its sender cannot reach the database either', async () => {
    const { port } = await sharedServer()
    const proxy = await BreakingProxy.to(port)
    const direct = await freshAddress()
    const url = `${direct.replace(`:${port}/`, `:${proxy.port}/`)}&timeout=1&connect_timeout=1`
    const { sender } = await machineWithDesk(url)
    const bob = await sender.mailbox('bob')
    await until('the desk is asked', async () => {
      const before = countAppends(sender)
      await bob.send({ to: 'ada', subject: 'x', body: 'x' })
      return before() === 0
    })
    proxy.cut()
    await expect(bob.send({ to: 'ada', subject: 'cut', body: 'x' })).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('whether this was stored is not known'),
    })
  })
})

it('a command does not get old answers from a desk that is cut off', async () => {
  const { port } = await sharedServer()
  const proxy = await BreakingProxy.to(port)
  const url = `${(await freshAddress()).replace(`:${port}/`, `:${proxy.port}/`)}&timeout=1&connect_timeout=1`
  // With the settings of the space, as a command has them.
  const desk = await openDisk({ dir: machineOf(url) })
  onTestFinished(() => desk.close())
  desk.core.desk!.takePart()
  await desk.join('ada')
  const asked = async () => {
    const found = await findMailboxAtDesk(desk.dir, 'ada', [])
    try {
      return await found?.mailbox.count()
    } catch (error) {
      if (error instanceof GoDirect) return undefined
      throw error
    } finally {
      found?.close()
    }
  }
  await until('the desk answers', asked)
  proxy.cut()
  expect(await asked()).toBeUndefined()
})

it('a process that waits gets its mail though the one that asks for all of them has stopped', async () => {
  const url = await freshAddress()
  const dir = machineOf(url)
  const there = await tempSpace({ dir: machineOf(url) })
  for (const name of ['ada', 'bob', 'eve']) await there.join(name)
  // The first that waits asks the database for all of its machine.
  const first = startScript(new URL('../helpers/follower.mjs', import.meta.url), [dir])
  await first.line('following')
  const here = await tempSpace({ dir })
  await (await there.mailbox('bob')).send({ to: 'eve', subject: 'first', body: 'x' })
  await first.line('entry first')
  first.kill('SIGSTOP')
  const mail = (await here.mailbox('ada')).wait()
  await (await there.mailbox('bob')).send({ to: 'ada', subject: 'second', body: 'x' })
  expect(await mail).toMatchObject({ subject: 'second' })
})

it('how old a copy is can be seen by every process of the machine while one asks all the time', async () => {
  const url = await freshAddress()
  const here = await tempSpace({ dir: machineOf(url) })
  const { copy } = storeOf(here)
  const off = here.core.journal.onWake(() => {})
  try {
    const before = await until('it is noted', () => copy.checkedAt)
    await until('it is noted again', () => copy.checkedAt! > before)
  } finally {
    off()
  }
})
