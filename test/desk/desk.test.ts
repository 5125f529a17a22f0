import { existsSync, mkdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { MailboxError } from '../../src/base/errors.ts'
import { monotonicMs } from '../../src/base/timers.ts'
import { deskDir, findAddress, lockPath, makeDeskDir } from '../../src/desk/place.ts'
import { type Ask, GoDirect } from '../../src/desk/wire.ts'
import { WriterLock } from '../../src/journal/file/lock.ts'
import { handle } from '../../src/space/desk/handle.ts'
import { findMailboxAtDesk } from '../../src/space/desk/mailbox-at-desk.ts'
import { openDisk } from '../../src/space/open.ts'
import { configText, writeSetting } from '../../src/space/settings.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { letPass, until } from '../helpers/wait.ts'
import { connectTo, countAppends, crowd, deskAndSender, isDesk, opener, throughDesk } from './stage.ts'

const subjects = async (space: DiskSpace, name: string) =>
  (await space.mailboxInside(name).inbox()).messages.map(({ subject }) => subject)

const helloOf = ({ core }: DiskSpace) => core.desk!.hello

const sendOf = (more: Partial<Ask>): Ask => ({
  n: 1,
  verb: 'send',
  by: { name: 'bob', pid: process.pid },
  id: '01890000-0000-7000-8000-000000000001',
  until: monotonicMs() + 60_000,
  args: [{ to: 'ada', subject: 'Plan', body: 'hi' }],
  ...more,
})

describe('the desk of a space', () => {
  it('is one of the processes that stay, and the next takes over when it ends', async () => {
    const { desk, sender } = await deskAndSender()
    expect([isDesk(desk), isDesk(sender)]).toEqual([true, false])
    await desk.close()
    await until('the other is the desk', () => isDesk(sender))
  })

  it('can be reached by the owner of the space alone', async () => {
    const { desk } = await deskAndSender()
    const modeOf = (path: string) => statSync(path).mode & 0o777
    expect(modeOf(deskDir(desk.dir))).toBe(0o700)
    expect(modeOf(findAddress(desk.dir)!)).toBe(0o600)
  })

  it('leaves no socket behind', async () => {
    const { desk, sender } = await deskAndSender()
    await sender.close()
    const address = findAddress(desk.dir)!
    await desk.close()
    expect(existsSync(address)).toBe(false)
  })

  it('has a short address in a space with a long path', async () => {
    const dir = join(tempDir(), 'a'.repeat(60), 'b'.repeat(60))
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const desk = await opener(dir)
    await until('there is a desk', () => isDesk(desk))
    const sender = await opener(dir)
    await until('the sender knows it', () => sender.core.desk!.knowsDesk)
    const link = findAddress(dir)!
    expect(Buffer.byteLength(link)).toBeLessThan(104)
    await sender.close()
    await desk.close()
    expect(findAddress(dir)).toBeUndefined()
  })

  it('resigns when the settings of the space are not its own any more', async () => {
    const dir = tempDir()
    const space = await openDisk({ dir })
    onTestFinished(() => space.close())
    space.core.desk!.takePart()
    await until('there is a desk', () => isDesk(space))
    const link = connectTo(dir, helloOf(space))
    expect(await link.greeting).toBeDefined()
    writeSetting(dir, 'maxAttempts', 7)
    // Whoever comes with the new ones is sent the direct way, and then there is no desk.
    const other = connectTo(dir, { ...helloOf(space), settings: { file: configText(dir) } })
    expect(await other.greeting).toBeUndefined()
    await link.ended
    expect(isDesk(space)).toBe(false)
  })
})

describe('a send through the desk', () => {
  it('is written by the desk once the sender has found somebody at the lock', async () => {
    const { desk, sender } = await deskAndSender()
    await sender.join('ada')
    const bob = await sender.mailbox('bob')
    const appends = countAppends(sender)
    await bob.send({ to: 'ada', subject: 'alone' })
    expect(appends()).toBe(1)
    const sent = await throughDesk(sender, () =>
      bob.send({ to: 'ada', subject: 'in a crowd', body: 'hi', tags: ['x'] }),
    )
    expect(sent).toMatchObject({ from: 'bob', to: ['ada'], subject: 'in a crowd', body: 'hi', warnings: [] })
    expect((await desk.show(sent.id)).message).toEqual(await bob.show(sent.id).then(({ message }) => message))
    expect(await subjects(desk, 'ada')).toContain('in a crowd')
    expect((await desk.verify({ deep: true })).problems).toEqual([])
  })

  it('is waited for while the desk shows that it is at work', async () => {
    const { sender } = await deskAndSender()
    await sender.join('ada')
    const bob = await sender.mailbox('bob')
    await crowd(sender)
    const appends = countAppends(sender)
    const lock = new WriterLock(join(sender.dir, 'lock'))
    let sent: Promise<unknown> | undefined
    await lock.tryWith(async () => {
      sent = bob.send({ to: 'ada', subject: 'Plan' })
      await letPass(400)
    })
    lock.close()
    await sent
    expect([appends(), await subjects(sender, 'ada')]).toEqual([0, ['Plan']])
  })

  it('goes the direct way again when nobody else writes', async () => {
    const { sender } = await deskAndSender()
    await sender.join('ada')
    const bob = await sender.mailbox('bob')
    const appends = countAppends(sender)
    await crowd(sender)
    await until('the desk says that nobody else writes', async () => {
      const before = appends()
      await bob.send({ to: 'ada', subject: 'x' })
      return appends() > before
    })
  })

  it('is signed by the sender and shows that it is there', async () => {
    const { desk, sender } = await deskAndSender()
    await sender.join('ada')
    const bob = await sender.mailbox('bob')
    const { id } = await throughDesk(sender, () => bob.send({ to: 'ada', subject: 'x' }))
    const { messages } = await desk.mailboxInside('ada').check()
    expect(messages.find((message) => message.id === id)).toMatchObject({ signature: 'signed' })
  })

  it('is refused with the error that the direct way has', async () => {
    const { sender } = await deskAndSender()
    await sender.join('ada')
    const bob = await sender.mailbox('bob')
    const refused = () =>
      bob.send({ to: 'adda', subject: 'x' }).catch((error: MailboxError) => error.toJSON())
    const directly = await refused()
    expect(directly).toMatchObject({ code: 'unknown_recipient', hint: expect.stringContaining('ada') })
    expect(await throughDesk(sender, refused)).toEqual(directly)
  })

  it('is not decided after its deadline', async () => {
    const { desk } = await deskAndSender()
    await desk.join('ada')
    await desk.join('bob')
    await expect(handle(desk.core, sendOf({ until: monotonicMs() - 1 }))).rejects.toThrow('late')
    expect(await subjects(desk, 'ada')).toEqual([])
  })

  it('is not decided when its sender has written it meanwhile, whatever the clock says', async () => {
    const { desk } = await deskAndSender()
    await desk.join('ada')
    await desk.join('bob')
    await handle(desk.core, sendOf({}))
    await expect(handle(desk.core, sendOf({}))).rejects.toThrow('late')
    expect(await subjects(desk, 'ada')).toEqual(['Plan'])
  })

  it('returns what a desk wrote that was killed before it could answer', async () => {
    const space = await tempSpace()
    await space.join('ada')
    // In the place of a desk: writes what it is asked to, and goes without an answer.
    makeDeskDir(space.dir)
    const lock = new WriterLock(lockPath(space.dir))
    let written = 0
    const server = createServer((socket) => {
      const answer = async (ask: Ask) => {
        await handle(space.core, ask)
        written++
        socket.destroy()
      }
      // Whoever asks for a greeting may be gone before it comes.
      socket.on('error', () => socket.destroy())
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        for (const line of chunk.trimEnd().split('\n')) {
          const ask = JSON.parse(line) as Ask
          if (ask.verb !== 'hello') void answer(ask)
          else socket.write(`${JSON.stringify({ n: ask.n, value: { seq: 0, now: 0 } })}\n`)
        }
      })
    })
    onTestFinished(() => void server.close())
    await lock.tryWith(async () => {
      await new Promise<void>((resolve) => server.listen(findAddress(space.dir), resolve))
      const sender = await opener(space.dir)
      await until('the sender knows it', () => sender.core.desk!.knowsDesk)
      const bob = await sender.mailbox('bob')
      await crowd(sender)
      const sent = await bob.send({ to: ['ada', 'role:later'], subject: 'once', body: 'hi' })
      expect(written).toBe(1)
      // It is told what the desk would have told it.
      const warnings = [expect.stringContaining('no agent has the role later')]
      expect(sent).toMatchObject({ subject: 'once', body: 'hi', warnings })
      const { messages } = await space.mailboxInside('ada').inbox()
      expect(messages.map(({ id, seq }) => ({ id, seq }))).toEqual([{ id: sent.id, seq: sent.seq }])
      await sender.close()
    })
    lock.close()
  })
})

describe('a step that a command asks for', () => {
  it('is not taken after the command has given up, so that it undoes nothing of what came next', async () => {
    const dir = tempDir()
    const space = await openDisk({ dir })
    onTestFinished(() => space.close())
    await space.join('ada')
    await space.join('bob')
    const { id } = await space.mailboxInside('bob').send({ to: 'ada', subject: 'Plan' })
    space.core.desk!.takePart()
    await until('there is a desk', () => isDesk(space))
    const lock = new WriterLock(join(dir, 'lock'))
    let step: Promise<unknown> | undefined
    const atDesk = await until('the desk is asked in time', () => findMailboxAtDesk(dir, 'ada', []))
    // The desk waits for the lock for longer than the command waits for the desk.
    await lock.tryWith(async () => {
      step = atDesk.mailbox.start(id)
      await expect(step).rejects.toThrow(GoDirect)
    })
    lock.close()
    atDesk.close()
    // Whatever the desk was asked before this is decided now.
    await space.core.whileStill(() => {})
    expect((await space.show(id)).receipts).toMatchObject([{ state: 'stored' }])
  })
})

describe('a step with a claim that is over', () => {
  it('is not taken at the desk: it makes a new claim, and taken once more it would be refused', async () => {
    const { desk } = await deskAndSender()
    const ada = await desk.mailbox('ada', { join: { roles: ['r'] } })
    const { id } = await (await desk.mailbox('bob')).send({ to: 'role:r', subject: 'Plan' })
    const { claim } = await ada.claim(id)
    await ada.release(id)
    const by = { name: 'ada', pid: process.pid }
    const args = [id, { claimNumber: claim.number }]
    const asked = handle(desk.core, { n: 1, verb: 'done', by, until: monotonicMs() + 60_000, args })
    await expect(asked).rejects.toThrow(GoDirect)
    expect((await desk.show(id)).receipts).toMatchObject([{ state: 'stored' }])
  })
})

describe('whoever is not like the desk goes the direct way', () => {
  const others = {
    'another version': { version: '0.0.1' },
    'another format': { format: 1 },
    'another protocol': { protocol: 0 },
    'keys of another account': { config: '/elsewhere' },
    'another machine or container': { place: 'elsewhere' },
    'other settings': { settings: { inEffect: '{}' } },
    'another settings file': { settings: { file: '{"maxAttempts":3}' } },
  }
  for (const [what, part] of Object.entries(others))
    it(`such as ${what}`, async () => {
      const { desk } = await deskAndSender()
      const link = connectTo(desk.dir, { ...helloOf(desk), ...part })
      expect(await link.greeting).toBeUndefined()
      await desk.join('bob')
      const { by, id, verb, args } = sendOf({})
      expect(await link.ask({ by: by!, id: id!, verb, args })).toBeUndefined()
    })

  it('and a process with a time of its own takes no part', async () => {
    const space = await tempSpace({ now: () => 1_700_000_000_000 })
    expect(space.core.desk).toBeUndefined()
  })
})
