import { describe, expect, it } from 'vitest'
import { Calls } from '../../src/mcp/calls.ts'
import type { Identity } from '../../src/mcp/identity.ts'
import { createMailboxServer } from '../../src/mcp/server.ts'
import { Tasks } from '../../src/mcp/tasks.ts'
import { workOf } from '../../src/mcp/wait-tool.ts'
import type { Mailbox } from '../../src/space/mailbox/api.ts'
import { connectHttp, eras, serveHub } from '../helpers/mcp.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { untilRight } from '../helpers/wait.ts'
import { stageMcp } from './hub.ts'
import { type Ask, ask, begin, callOf, end, initialize, modernHeaders } from './wire.ts'

type Staged = Awaited<ReturnType<typeof stageMcp>>

const nothing = { sessions: 0, calls: 0, listeners: 0 }

async function people(staged: Staged) {
  const [ada] = [await staged.space.mailbox('ada'), await staged.space.mailbox('bob')]
  return { ada, token: staged.tokenOf('bob'), seq: await staged.space.lastSeq() }
}

/** Nothing is open, nothing was written, and mail that comes now is unread until bob takes it. */
async function expectNothingLeft(staged: Staged, seq: number): Promise<void> {
  await untilRight(() => expect(staged.mcp.counts()).toEqual(nothing))
  expect(await staged.space.lastSeq()).toBe(seq)
  const [ada, bob] = [await staged.space.mailbox('ada'), await staged.space.mailbox('bob')]
  await ada.send({ to: 'bob', body: 'later' })
  expect(await bob.count()).toMatchObject({ unread: 1 })
  expect((await bob.check()).messages).toMatchObject([{ body: 'later' }])
}

describe('a request that is none is refused, and leaves nothing behind', () => {
  const json = { 'content-type': 'application/json' }
  const cases: [what: string, status: number, wish: Ask][] = [
    ['broken JSON', 400, { headers: json, raw: '{"jsonrpc":"2.0",' }],
    [
      'a key that is there twice',
      400,
      { headers: json, raw: JSON.stringify(initialize).replace('"id":1', '"id":1,"id":2') },
    ],
    ['no JSON at all', 400, { headers: json, raw: '' }],
    [
      'no UTF-8',
      400,
      { headers: json, raw: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}', 'latin1') },
    ],
    [
      'another content type',
      415,
      { headers: { 'content-type': 'text/plain' }, raw: JSON.stringify(initialize) },
    ],
    ['another jsonrpc', 400, { body: { ...initialize, jsonrpc: '1.0' } }],
    ['null', 400, { body: null }],
    ['a handshake without its words', 400, { body: { jsonrpc: '2.0', id: 1, method: 'initialize' } }],
    ['a handshake that accepts no stream', 406, { headers: { accept: 'text/html' }, body: initialize }],
    ['a call before the handshake', 400, { body: callOf('check', {}, false) }],
    [
      'an envelope that lacks its half',
      400,
      {
        headers: modernHeaders('check'),
        body: { ...callOf('check', {}, false) },
      },
    ],
    [
      'a session that never was',
      404,
      { headers: { 'mcp-session-id': 'nobody' }, body: callOf('check', {}, false) },
    ],
    ['a stream without a session', 400, { method: 'GET' }],
    ['over 4 MiB', 413, { headers: json, raw: `"${'x'.repeat(4 * 1024 * 1024)}"` }],
    [
      'over 4 MiB in pieces',
      413,
      {
        headers: { ...json, 'transfer-encoding': 'chunked' },
        raw: `"${'x'.repeat(4 * 1024 * 1024)}"`,
      },
    ],
    ['the address of somebody else', 403, { headers: { host: 'evil.example.com' }, body: initialize }],
    ['a page of somebody else', 403, { headers: { origin: 'http://evil.example.com' }, body: initialize }],
    ['no token', 401, { headers: { authorization: '' }, body: initialize }],
    ['a token of nobody', 401, { headers: { authorization: 'Bearer mbx_none' }, body: initialize }],
  ]

  it('whatever is wrong with it', async () => {
    const staged = await stageMcp()
    const { token, seq } = await people(staged)
    for (const [what, status, wish] of cases) {
      const headers = { authorization: `Bearer ${token}`, ...wish.headers }
      if (headers.authorization === '') Reflect.deleteProperty(headers, 'authorization')
      const { answer } = ask(staged.mcpUrl, { ...wish, headers })
      expect([what, (await answer).status]).toEqual([what, status])
      expect([what, staged.mcp.counts()]).toEqual([what, nothing])
    }
    await expectNothingLeft(staged, seq)
  })

  it.each(eras)('a message over the limit, in the protocol of %s', async (_, mode) => {
    const staged = await stageMcp()
    const { token, seq } = await people(staged)
    const bob = await connectHttp(staged.mcpUrl, token, mode)
    expect(await bob.refused('send', { to: 'ada', body: 'x'.repeat(1_100_000) })).toMatch(/^over_limit: /)
    await bob.transport.terminateSession()
    await expectNothingLeft(staged, seq)
  })

  it("another agent's session", async () => {
    const staged = await stageMcp()
    const { token, seq } = await people(staged)
    const bobs = await begin(staged.mcpUrl, token)
    const authorization = `Bearer ${staged.tokenOf('ada')}`
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? callOf('check', {}, false) : undefined
      const { answer } = ask(staged.mcpUrl, { method, headers: { ...bobs, authorization }, body })
      expect(await answer).toMatchObject({ status: 404, text: expect.stringContaining('no such session') })
    }
    expect(staged.mcp.counts().sessions).toBe(1)
    await end(staged.mcpUrl, bobs)
    await expectNothingLeft(staged, seq)
  })
})

describe('a wait that comes to nothing leaves nothing behind', () => {
  it.each(eras)('when it is cancelled, in the protocol of %s', async (_, mode) => {
    const staged = await stageMcp()
    const { token, seq } = await people(staged)
    const bob = await connectHttp(staged.mcpUrl, token, mode)
    const stop = new AbortController()
    const options = { signal: stop.signal }
    const waiting = bob.client.callTool({ name: 'wait', arguments: { seconds: 600 } }, options)
    await untilRight(() => expect(staged.mcp.counts().calls).toBe(1))
    stop.abort()
    await expect(waiting).rejects.toThrow()
    await untilRight(() => expect(staged.mcp.counts().calls).toBe(0))
    // Its stream is gone as well, or the session would never run out.
    await bob.transport.terminateSession()
    await expectNothingLeft(staged, seq)
  })

  it.each([
    ['older', false],
    ['newer', true],
  ])('when its socket dies, in the %s protocol', async (_, isModern) => {
    const staged = await stageMcp()
    const { token, seq } = await people(staged)
    const headers = isModern
      ? { authorization: `Bearer ${token}`, ...modernHeaders('wait') }
      : await begin(staged.mcpUrl, token)
    const { hangUp } = ask(staged.mcpUrl, { headers, body: callOf('wait', { seconds: 600 }, isModern) })
    await untilRight(() => expect(staged.mcp.counts().calls).toBe(1))
    hangUp()
    await untilRight(() => expect(staged.mcp.counts().calls).toBe(0))
    if (!isModern) await end(staged.mcpUrl, headers)
    await expectNothingLeft(staged, seq)
  })

  it('when its client cancels by hand: its stream ends without a word', async () => {
    const staged = await stageMcp()
    const { token, seq } = await people(staged)
    const headers = await begin(staged.mcpUrl, token)
    const { answer } = ask(staged.mcpUrl, { headers, body: callOf('wait', { seconds: 600 }, false) })
    await untilRight(() => expect(staged.mcp.counts().calls).toBe(1))
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
    expect((await ask(staged.mcpUrl, { headers, body: cancel }).answer).status).toBe(202)
    expect(await answer).toMatchObject({ status: 200, text: expect.not.stringContaining('{') })
    await end(staged.mcpUrl, headers)
    await expectNothingLeft(staged, seq)
  })

  it.each([
    ['older', false],
    ['newer', true],
  ])(
    'when its socket dies just as it takes mail, in the %s protocol: that is unread again',
    async (_, isModern) => {
      let hangUp = () => {}
      const staged = await stageMcp({ serverFor: () => hesitant })
      const { ada, token } = await people(staged)
      const bob = await staged.space.mailbox('bob')
      // Takes the mail as ever, and has the answer in hand when the client is seen to be gone.
      const waitForMessages: Mailbox['waitForMessages'] = async (options = {}) => {
        const found = await bob.waitForMessages(options)
        hangUp()
        await untilRight(() => expect(options.signal?.aborted).toBe(true))
        return found
      }
      const release = (id: string) => bob.release(id)
      const taker = { name: 'bob', waitForMessages, release } as unknown as Mailbox
      const calls = new Calls()
      const identity = { mailbox: async () => taker } as unknown as Identity
      const hesitant = createMailboxServer(staged.space, {
        ...{ version: '0', identity, calls, tasks: new Tasks(workOf) },
      })
      const headers = isModern
        ? { authorization: `Bearer ${token}`, ...modernHeaders('wait') }
        : await begin(staged.mcpUrl, token)
      const asked = ask(staged.mcpUrl, { headers, body: callOf('wait', { seconds: 600 }, isModern) })
      hangUp = asked.hangUp
      await untilRight(() => expect(calls.size).toBe(1))
      const { id } = await ada.send({ to: 'bob', body: 'now' })
      await untilRight(() => expect(calls.size).toBe(0))
      expect((await bob.show(id)).receipts).toMatchObject([{ state: 'stored' }])
      expect((await bob.check()).messages).toMatchObject([{ id }])
    },
  )
})

describe('a session', () => {
  it('runs out when nobody uses it, however it was left, and not while a stream of it is open', async () => {
    const staged = await stageMcp({ sessionIdleMs: 1_500 })
    const { token, seq } = await people(staged)
    const [used, left] = [await begin(staged.mcpUrl, token), await begin(staged.mcpUrl, token)]
    const stream = ask(staged.mcpUrl, { method: 'GET', headers: used })
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled' }
    const strange = [[null], 7, {}, cancelled, { ...cancelled, params: { requestId: 'nothing' } }]
    for (const body of strange)
      expect([400, 202]).toContain((await ask(staged.mcpUrl, { headers: left, body }).answer).status)
    const wait = ask(staged.mcpUrl, { headers: left, body: callOf('wait', { seconds: 600 }, false) })
    for (const headers of [used, left]) {
      const params = { uri: 'mailbox://thread/x' }
      const body = { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params }
      expect((await ask(staged.mcpUrl, { headers, body }).answer).status).toBe(200)
    }
    await untilRight(() => expect(staged.mcp.counts()).toEqual({ sessions: 2, calls: 1, listeners: 2 }))
    wait.hangUp()
    await untilRight(() => expect(staged.mcp.counts()).toEqual({ sessions: 1, calls: 0, listeners: 1 }))
    const status = async (headers: Record<string, string>) =>
      (await ask(staged.mcpUrl, { headers, body: callOf('agents', {}, false) }).answer).status
    expect([await status(used), await status(left)]).toEqual([200, 404])
    stream.hangUp()
    await expectNothingLeft(staged, seq)
  })

  it('takes the place of the one that its agent has not used for longest, and of nobody else', async () => {
    const staged = await stageMcp({ maxSessionsPerAgent: 2, maxSessions: 3 })
    const { token } = await people(staged)
    const adas = await begin(staged.mcpUrl, staged.tokenOf('ada'))
    const [first, second] = [await begin(staged.mcpUrl, token), await begin(staged.mcpUrl, token)]
    const stream = ask(staged.mcpUrl, { method: 'GET', headers: first })
    const third = await begin(staged.mcpUrl, token)
    const status = async (headers: Record<string, string>) =>
      (await ask(staged.mcpUrl, { headers, body: callOf('agents', {}, false) }).answer).status
    expect(await Promise.all([adas, first, second, third].map(status))).toEqual([200, 200, 404, 200])
    const other = ask(staged.mcpUrl, {
      headers: { authorization: `Bearer ${staged.tokenOf('eve')}` },
      body: initialize,
    })
    expect((await other.answer).status).toBe(503)
    stream.hangUp()
  })
})

describe('the calls of an agent', () => {
  it('are 256 at once and no more, and all of them end with their streams', async () => {
    const staged = await stageMcp()
    const { token, seq } = await people(staged)
    const headers = await begin(staged.mcpUrl, token)
    const waits = Array.from({ length: 256 }, (_, id) => ({ ...callOf('wait', { seconds: 600 }, false), id }))
    // Whoever speaks an early version sends many in one request.
    const streams = [waits.slice(0, 100), waits.slice(100, 200), waits.slice(200)].map((body) =>
      ask(staged.mcpUrl, { headers, body }),
    )
    await untilRight(() => expect(staged.mcp.counts().calls).toBe(256))
    const more = ask(staged.mcpUrl, { headers, body: { ...callOf('check', {}, false), id: 256 } })
    expect((await more.answer).text).toContain('over_limit: 256 calls are already in progress')
    const adas = await connectHttp(staged.mcpUrl, staged.tokenOf('ada'))
    expect((await adas.call('check')).text).toBe('no new mail')
    await adas.transport.terminateSession()
    for (const { hangUp } of streams) hangUp()
    await untilRight(() => expect(staged.mcp.counts().calls).toBe(0))
    await end(staged.mcpUrl, headers)
    await expectNothingLeft(staged, seq)
  })
})

describe('whoever is cut off', () => {
  it.each([
    ['older', false],
    ['newer', true],
  ])(
    'by its token, in the %s protocol: what it has open ends, and its mail is unread',
    async (_, isModern) => {
      const staged = await stageMcp()
      const { ada, token } = await people(staged)
      const headers = isModern
        ? { authorization: `Bearer ${token}`, ...modernHeaders('wait') }
        : await begin(staged.mcpUrl, token)
      const { answer } = ask(staged.mcpUrl, { headers, body: callOf('wait', { seconds: 600 }, isModern) })
      await untilRight(() => expect(staged.mcp.counts().calls).toBe(1))
      staged.tokenOf('bob') // A new token revokes the old one.
      await ada.send({ to: 'bob', body: 'secret' })
      expect(await answer).toMatchObject(
        isModern ? { status: 401 } : { status: 200, text: expect.not.stringContaining('{') },
      )
      // It is there for whoever has the new one.
      const bob = await staged.space.mailbox('bob')
      expect((await bob.check()).messages).toMatchObject([{ body: 'secret' }])
    },
  )

  it('by the end of the hub: it stops at once, and no mail is lost with it', async () => {
    const dir = tempDir()
    const space = await tempSpace({ dir })
    const [ada] = [await space.mailbox('ada'), await space.mailbox('bob')]
    const hub = await serveHub(dir)
    const bob = await connectHttp(hub.mcpUrl, hub.tokenOf('bob'))
    await bob.client.subscribeResource({ uri: 'mailbox://thread/x' })
    const waiting = bob.client.callTool({ name: 'wait', arguments: { seconds: 600 } }).catch(() => 'over')
    await untilRight(async () => expect(await hub.metric('mailbox_mcp_calls')).toBe(1))
    expect(await hub.metric('mailbox_mcp_sessions')).toBe(1)
    expect(await hub.metric('mailbox_mcp_listeners')).toBe(1)
    hub.running.kill('SIGINT')
    expect(await hub.running.exit).toMatchObject({ signal: null })
    await bob.client.close()
    await waiting
    await ada.send({ to: 'bob', body: 'later' })
    expect((await (await space.mailbox('bob')).check()).messages).toMatchObject([{ body: 'later' }])
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })
})
