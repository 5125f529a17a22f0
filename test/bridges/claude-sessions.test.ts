import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { envelope, openEnvelope } from '../../src/bridges/claude/envelope.ts'
import { Pace } from '../../src/bridges/claude/pace.ts'
import { Memory } from '../../src/bridges/memory.ts'
import { bridgeId, memoryPath } from '../../src/bridges/remembered.ts'
import { until } from '../helpers/wait.ts'
import { mailOf, type Stage, stage, stateOf } from './stage.ts'

/** A session of Claude Code as others see it: a record, a key and a socket, which takes what it gets. */
async function session(folder: string, name: string, id = `${name}-id`) {
  const sockets = join(folder, 'cc-socks')
  mkdirSync(sockets, { recursive: true })
  mkdirSync(join(folder, 'sessions'), { recursive: true })
  const socket = join(sockets, `${name}.sock`)
  const frames: Record<string, unknown>[] = []
  const dropped: unknown[] = []
  const told: Promise<boolean>[] = []
  /** What each sender has said last. The client drops the same again within 30 seconds, and says so. */
  const last = new Map<unknown, { content: unknown; at: number }>()
  const take = (frame: Record<string, unknown>, closed: Promise<unknown>) => {
    const { from, msg_id: id } = frame
    const { content } = (frame['message'] ?? {}) as { content?: unknown }
    const before = last.get(from)
    if (frame['type'] === 'user' && before?.content === content && Date.now() - before!.at < 30_000) {
      dropped.push(id)
      const notice = { type: 'control', action: 'peer_message_status', status: 'dropped', msg_id: 'n' }
      const why = { drop_reason: 'duplicate', dropped_msg_ids: [id], from: `uds:${socket}` }
      const sender = String(from).slice('uds:'.length)
      return void told.push(closed.then(() => sendTo(sender, [{ ...notice, ...why }])))
    }
    if (frame['type'] === 'user') last.set(from, { content, at: Date.now() })
    frames.push(frame)
  }
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    let text = ''
    connection.on('data', (data) => (text += data.toString()))
    connection.on('error', () => {})
    const closed = new Promise((resolve) => connection.on('close', resolve))
    connection.on('end', () => {
      for (const line of text.split('\n').filter(Boolean)) take(JSON.parse(line) as never, closed)
      connection.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  onTestFinished(() => void server.close())
  const pid = 900_000 + name.length * 7 + name.charCodeAt(0)
  const record = { pid, sessionId: id, cwd: '/proj', kind: 'interactive', entrypoint: 'cli', name }
  const path = join(folder, 'sessions', `${pid}.json`)
  writeFileSync(path, JSON.stringify({ ...record, messagingSocketPath: socket, status: 'idle' }))
  return { frames, socket, pid, dropped, told, said: () => frames.filter(({ type }) => type === 'user') }
}

/** What SendMessage does. Resolves when the receiver closes, and says whether it did so within the time. */
function sendTo(socket: string, lines: object[]): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () =>
      connection.end(lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
    )
    connection.setTimeout(5_000, () => {
      resolve(false)
      connection.destroy()
    })
    connection.on('error', () => resolve(false))
    connection.on('close', () => resolve(true))
    connection.resume()
  })
}

const userFrame = (id: string, from: string, text: string) => ({
  ...{ msgV: 1, msg_id: id, type: 'user', priority: 'next', from: `uds:${from}` },
  message: {
    role: 'user',
    content: `<cross-session-message from="uds:${from}" from-name="alpha" from-mode="prompting">\n${text}\n</cross-session-message>`,
  },
})

interface OwnRecord {
  name: string
  messagingSocketPath: string
}

const ownRecords = (folder: string): OwnRecord[] =>
  readdirSync(join(folder, 'sessions'))
    .filter((file) => file.startsWith('1') && file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(join(folder, 'sessions', file), 'utf8')) as OwnRecord)

const ownSocket = (folder: string) => until(() => ownRecords(folder)[0]?.messagingSocketPath)

async function running(): Promise<
  Stage & { alpha: Awaited<ReturnType<typeof session>>; zoe: string; stop: () => Promise<void> }
> {
  const made = await stage('claude-sessions')
  const alpha = await session(made.folder, 'alpha')
  const stop = made.run()
  const zoe = await ownSocket(made.folder)
  await until(() => made.space.core.agents.get('claude/alpha'))
  return { ...made, alpha, zoe, stop }
}

describe('sessions of Claude Code', () => {
  it('find our agent: a record, a socket of its own, and nobody is troubled by a look', async () => {
    const { folder, zoe, space, stop } = await running()
    const [record] = ownRecords(folder)
    expect(record).toMatchObject({
      ...{ name: 'zoe', kind: 'interactive', pidDomain: 'agent-mailbox', entrypoint: 'agent-mailbox' },
      ...{ peerFeatures: [], peerProtocol: 1, status: 'idle' },
    })
    expect(statSync(zoe).mode & 0o777).toBe(0o600)
    expect(await sendTo(zoe, [])).toBe(true)
    expect(await mailOf(space, 'zoe')).toEqual([])
    await stop()
    expect(ownRecords(folder)).toEqual([])
    expect(existsSync(zoe)).toBe(false)
  })

  it('write to our agent, and hear that it is kept when it is', async () => {
    const { space, alpha, zoe } = await running()
    const frame = userFrame('m-1', alpha.socket, 'first line\nA <\\/cross-session-message> B')
    expect(await sendTo(zoe, [{ type: 'auth', token: 'x' }, frame])).toBe(true)
    const kept = await mailOf(space, 'zoe')
    expect(kept).toMatchObject([{ from: 'claude/alpha', body: 'first line\nA </cross-session-message> B' }])
    expect(kept[0]!.bridge).toMatchObject({ format: 'claude-sessions', id: 'm-1' })
    expect(await sendTo(zoe, [frame])).toBe(true)
    expect(await mailOf(space, 'zoe')).toHaveLength(1)
  })

  it('get mail from here in a text that says who speaks, with no claim to a mode, once', async () => {
    const { space, alpha, zoe, folder } = await running()
    const sent = await (await space.mailbox('zoe')).send({ to: 'claude/alpha', subject: 'Hi', body: 'there' })
    await until(() => alpha.said().length > 0)
    const { message, ...frame } = alpha.said()[0] as { message: { content: string } }
    expect(frame).toMatchObject({ msgV: 1, msg_id: sent.id, priority: 'next', from: `uds:${zoe}` })
    expect(message.content).toBe(
      `<cross-session-message from="uds:${zoe}" from-name="zoe">\n[From zoe, an agent in the mailbox ${space.dir}, not a session of Claude Code. To answer: SendMessage to zoe.]\n\nHi\n\nthere\n</cross-session-message>`,
    )
    await until(async () => (await stateOf(space, sent.id, 'claude/alpha')) === 'notified')
    expect(alpha.said()).toHaveLength(1)
    expect(alpha.frames.map(({ type }) => type)).toEqual(['user'])
    expect(ownRecords(folder)).toHaveLength(1)
  })

  it('get what waits for them from a bridge that runs once, and keep nothing of it', async () => {
    const made = await stage('claude-sessions')
    const alpha = await session(made.folder, 'alpha')
    await made.sync()
    const sent = await (await made.space.mailbox('zoe')).send({
      to: 'claude/alpha',
      body: 'while nobody ran',
    })
    await made.sync()
    expect(alpha.said()).toMatchObject([{ msg_id: sent.id }])
    expect(await stateOf(made.space, sent.id, 'claude/alpha')).toBe('notified')
    expect(ownRecords(made.folder)).toEqual([])
    expect(readdirSync(join(made.folder, 'cc-socks'))).toEqual(['alpha.sock'])
  })

  it.each([
    ['delivered', {}, 'shown', ''],
    ['denied', {}, 'failed', 'has not let it through'],
    ['expired', { status_detail: 'refused' }, 'failed', 'takes no messages'],
    ['dropped', { drop_reason: 'hop-loop' }, 'failed', 'goes in circles'],
  ])('say that a message was %s, and nothing is answered to that', async (status, more, state, reason) => {
    const { space, alpha, zoe } = await running()
    const sent = await (await space.mailbox('zoe')).send({ to: 'claude/alpha', body: 'x' })
    await until(() => alpha.said().length > 0)
    const notice = { type: 'control', action: 'peer_message_status', from: 'uds:x', orig_msg_id: sent.id }
    await sendTo(zoe, [{ ...notice, status: 'held', reason: 'Your message is held', msg_id: 'n-1' }])
    await sendTo(zoe, [{ ...notice, status, ...more, msg_id: 'n-2' }])
    await until(async () => (await stateOf(space, sent.id, 'claude/alpha')) === state)
    const { receipts } = await space.show(sent.id)
    expect(JSON.stringify(receipts)).toContain(reason)
    expect(alpha.frames).toHaveLength(1)
  })

  it('get again what they have dropped', async () => {
    const { space, alpha, zoe } = await running()
    const mailbox = await space.mailbox('zoe')
    const { id } = await mailbox.send({ to: 'claude/alpha', body: 'one' })
    await mailbox.send({ to: 'claude/alpha', body: 'two' })
    await until(() => alpha.said().length === 2)
    await until(async () => (await stateOf(space, id, 'claude/alpha')) === 'notified')
    const notice = { type: 'control', action: 'peer_message_status', from: 'uds:x', msg_id: 'n-1' }
    const dropped = { status: 'dropped', drop_reason: 'rate-limited', dropped_msg_ids: [id] }
    await sendTo(zoe, [{ ...notice, ...dropped }])
    await until(() => alpha.said().length === 3)
    expect(alpha.said()[2]).toMatchObject({ msg_id: id })
  })

  it('get nothing twice from a bridge that was killed after they had taken it', async () => {
    const { space, folder, sync, ...made } = await stage('claude-sessions')
    const alpha = await session(folder, 'alpha')
    await sync()
    const { id } = await (await space.mailbox('zoe')).send({ to: 'claude/alpha', body: 'once' })
    await sync()
    // What such a kill leaves: the link says that it is about to be delivered.
    const memory = new Memory(memoryPath(space.dir, bridgeId('claude-sessions', folder)))
    memory.setLink(memory.linksOf(id)[0]!, false)
    memory.close()
    await sync()
    expect(alpha.said()).toHaveLength(1)
    expect(made.problems).toEqual([])
  })

  it('have no message twice whose delivery was not noted before a kill: they drop the copy', async () => {
    const { space, folder, sync, ...made } = await stage('claude-sessions')
    const alpha = await session(folder, 'alpha')
    await sync()
    const { id } = await (await space.mailbox('zoe')).send({ to: 'claude/alpha', body: 'once' })
    await sync()
    // What such a kill leaves: it is not known that the session has closed the socket.
    const memory = new Memory(memoryPath(space.dir, bridgeId('claude-sessions', folder)))
    memory.setLink(memory.linksOf(id)[0]!, false)
    for (const [rest] of memory.notes('taken by ')) memory.forgetNote(`taken by ${rest}`)
    memory.close()
    const stop = made.run()
    await until(() => alpha.dropped.length > 0)
    // Told that it was dropped, it does not send it again, and goes on with what comes after it.
    expect(await Promise.all(alpha.told)).toEqual([true])
    const then = await (await space.mailbox('zoe')).send({ to: 'claude/alpha', body: 'then' })
    await until(() => alpha.said().length === 2)
    await stop()
    expect(alpha.said()).toMatchObject([{ msg_id: id }, { msg_id: then.id }])
    expect(alpha.dropped).toEqual([id])
    const after = new Memory(memoryPath(space.dir, bridgeId('claude-sessions', folder)))
    expect(after.unwritten().map(({ foreign }) => foreign)).not.toContain(id)
    after.close()
    expect(made.problems).toEqual([])
  })

  it('keep the address of our agent through a restart, also after a kill', async () => {
    const { folder, zoe, alpha, stop, run, space } = await running()
    const record = readdirSync(join(folder, 'sessions')).find((file) => file.startsWith('1'))!
    const left = readFileSync(join(folder, 'sessions', record), 'utf8')
    await stop()
    writeFileSync(join(folder, 'sessions', record), left)
    run()
    await until(() => existsSync(zoe))
    expect(await ownSocket(folder)).toBe(zoe)
    expect(await sendTo(zoe, [userFrame('m-2', alpha.socket, 'again')])).toBe(true)
    expect(await mailOf(space, 'zoe')).toMatchObject([{ body: 'again' }])
  })

  it('that are agents here by their hooks are neither listed again nor written to', async () => {
    const { space, folder, run } = await stage('claude-sessions')
    const alpha = await session(folder, 'alpha', 'an-id')
    await space.join('claude-1', { session: { client: 'claude', id: 'an-id' } })
    run()
    const zoe = await ownSocket(folder)
    await (await space.mailbox('zoe')).send({ to: 'claude-1', body: 'by its hooks' })
    expect(await sendTo(zoe, [userFrame('m-3', alpha.socket, 'hello')])).toBe(true)
    expect(await mailOf(space, 'zoe')).toMatchObject([{ from: 'claude-1', body: 'hello' }])
    expect(ownRecords(folder).map(({ name }) => name)).toEqual(['zoe'])
    expect(space.core.agents.has('claude/alpha')).toBe(false)
    expect(alpha.frames).toEqual([])
  })

  it('keep their names: ours is not listed while a session has it', async () => {
    const { space, folder, run } = await stage('claude-sessions')
    await session(folder, 'Zoe')
    await space.join('bob')
    run()
    await until(() => ownRecords(folder).length === 1)
    expect(ownRecords(folder)[0]!.name).toBe('bob')
  })

  it('get 30 messages of a sender at once, then one every two seconds, and no text twice in a row', () => {
    const pace = new Pace()
    const sent = Array.from({ length: 40 }, (_, n) => pace.take('zoe alpha', `text ${n}`, 0))
    expect(sent.filter(Boolean)).toHaveLength(30)
    expect(pace.take('zoe beta', 'text', 0)).toBe(true)
    expect(pace.take('zoe alpha', 'late', 1_900)).toBe(false)
    expect(pace.take('zoe alpha', 'late', 2_000)).toBe(true)
    expect(pace.take('zoe alpha', 'late', 20_000)).toBe(false)
    expect(pace.take('zoe alpha', 'late', 33_000)).toBe(true)
    pace.cool(40_000)
    expect(pace.take('zoe beta', 'more', 41_000)).toBe(false)
    expect(pace.take('zoe beta', 'more', 42_000)).toBe(true)
  })

  it('get the words of any message, and have theirs kept', () => {
    const words = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.constantFrom('', '\n', '\n\na\n\n', '</cross-session-message>', '<cross-session-message from="x">'),
    )
    const whole = fc.array(words, { maxLength: 4 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(whole, (text) => {
        const { from, fromName, ...opened } = openEnvelope(
          envelope(text, { socket: '/tmp/cc-socks/a b.sock', name: 'zoe' }),
        )
        expect([from, fromName, opened.text]).toEqual(['/tmp/cc-socks/a b.sock', 'zoe', text])
      }),
      { numRuns: 1_000 },
    )
  })

  it('are told that a message is lost when there is no room for it, and it does not come later', async () => {
    const { space, folder, run } = await stage('claude-sessions', { 'limits.inbox': 1 })
    const alpha = await session(folder, 'alpha')
    run()
    const zoe = await ownSocket(folder)
    expect(await sendTo(zoe, [userFrame('m-1', alpha.socket, 'first')])).toBe(true)
    expect(await sendTo(zoe, [userFrame('m-2', alpha.socket, 'no room')])).toBe(false)
    const [first] = await mailOf(space, 'zoe')
    await space.mailboxInside('zoe').done(first!.id)
    expect(await sendTo(zoe, [userFrame('m-3', alpha.socket, 'third')])).toBe(true)
    expect((await mailOf(space, 'zoe')).map(({ body }) => body)).toEqual(['first', 'third'])
  })

  it('are not troubled while none runs: nothing is written', async () => {
    const { folder, sync, files } = await stage('claude-sessions')
    mkdirSync(join(folder, 'sessions'))
    await sync()
    expect(files()).toEqual([])
  })
})
