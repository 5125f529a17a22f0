import { expect, it } from 'vitest'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { connectHttp } from '../helpers/mcp.ts'
import { until } from '../helpers/wait.ts'
import { stageMcp } from './hub.ts'
import { type Ask, ask, begin, callOf, end, modernHeaders } from './wire.ts'

async function stage(resumeMs: number) {
  const way = await BreakingProxy.to(0)
  const staged = await stageMcp({ resumeMs }, { allowHosts: [`127.0.0.1:${way.port}`] })
  way.target = Number(new URL(staged.url).port)
  const [ada, bob] = [await staged.space.mailbox('ada'), await staged.space.mailbox('bob')]
  return { staged, ada, bob, way, token: staged.tokenOf('bob') }
}

it('gives a client the answer that takes up a broken stream', async () => {
  const { staged, ada, bob, way, token } = await stage(60_000)
  const client = await connectHttp(`http://127.0.0.1:${way.port}/mcp`, token)
  // A client knows by the first event that it can come back.
  let canResume = false
  const onresumptiontoken = () => (canResume = true)
  const wait = { name: 'wait', arguments: { from: 'ada', seconds: 600 } }
  const waiting = client.client.callTool(wait, { onresumptiontoken, timeout: 120_000 })
  await until(() => canResume && staged.mcp.counts().calls === 1)
  way.cut()
  const { id } = await ada.send({ to: 'bob', body: 'WORDS' })
  way.restore()
  expect(JSON.stringify(await waiting)).toContain('WORDS')
  expect((await bob.show(id)).receipts).toMatchObject([{ state: 'shown' }])
  await client.transport.terminateSession()
  await until(() => staged.mcp.counts().sessions === 0)
})

it('holds what was found meanwhile, and makes it unread again when the client does not come back', async () => {
  const { staged, ada, bob, token } = await stage(500)
  const headers = await begin(staged.mcpUrl, token)
  const waiting = ask(staged.mcpUrl, { headers, body: callOf('wait', { seconds: 600 }, false) })
  await until(() => staged.mcp.counts().calls === 1)
  waiting.hangUp()
  // The hub has noticed when only this question is open.
  await until(async () => /^mailbox_connections 1$/m.test((await staged.ask('/metrics')).text))
  const { id } = await ada.send({ to: 'bob', body: 'WORDS' })
  await until(() => staged.mcp.counts().calls === 0)
  expect((await bob.show(id)).receipts).toMatchObject([{ state: 'stored' }])
  // What broke off for good is not kept.
  const late = { ...headers, accept: 'text/event-stream', 'last-event-id': `${crypto.randomUUID()}:1` }
  expect((await ask(staged.mcpUrl, { method: 'GET', headers: late }).answer).status).toBe(400)
})

it('gives up what was lost as soon as the session ends', async () => {
  const { staged, ada, bob, token } = await stage(600_000)
  const headers = await begin(staged.mcpUrl, token)
  const waiting = ask(staged.mcpUrl, { headers, body: callOf('wait', { seconds: 600 }, false) })
  await until(() => staged.mcp.counts().calls === 1)
  waiting.hangUp()
  await until(async () => /^mailbox_connections 1$/m.test((await staged.ask('/metrics')).text))
  const { id } = await ada.send({ to: 'bob', body: 'WORDS' })
  await end(staged.mcpUrl, headers)
  await until(() => staged.mcp.counts().calls === 0)
  expect((await bob.show(id)).receipts).toMatchObject([{ state: 'stored' }])
})

it.each([
  ['older', false],
  ['newer', true],
])(
  'makes mail unread again whose answer its client has not read, in the %s protocol',
  async (_, isModern) => {
    const { staged, ada, bob, token } = await stage(100)
    // More than the buffers of a connection hold.
    const body = 'WORDS '.repeat(100_000)
    const letters = await Promise.all(Array.from({ length: 20 }, () => ada.send({ to: 'bob', body })))
    const headers: Ask['headers'] = isModern
      ? { authorization: `Bearer ${token}`, ...modernHeaders('wait') }
      : await begin(staged.mcpUrl, token)
    const { pause, answer, hangUp } = ask(staged.mcpUrl, {
      headers,
      body: callOf('wait', { count: letters.length }, isModern),
    })
    pause()
    await until(async () => (await bob.count()).unread === 0)
    await until(() => staged.mcp.counts().calls === 0)
    hangUp()
    await expect(answer).rejects.toThrow()
    await until(async () => (await bob.count()).unread === letters.length)
  },
)

it('goes on telling a listener that has lost its stream what has changed', async () => {
  const { staged, ada, token } = await stage(60_000)
  const headers = await begin(staged.mcpUrl, token)
  const { threadId, id } = await ada.send({ to: 'bob', body: 'first' })
  const uri = `mailbox://thread/${threadId}`
  const subscribe = { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri } }
  await ask(staged.mcpUrl, { headers, body: subscribe }).answer
  const events = async (more: Record<string, string>) => {
    const response = await fetch(staged.mcpUrl, {
      headers: { ...headers, accept: 'text/event-stream', ...more },
    })
    expect(response.status).toBe(200)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    return { next: async () => (await reader.read()).value ?? '', cancel: () => reader.cancel() }
  }
  const listening = await events({})
  await ada.reply(id, { body: 'second' })
  const heard = await listening.next()
  expect(heard).toContain(uri)
  await listening.cancel()
  await until(async () => /^mailbox_connections 1$/m.test((await staged.ask('/metrics')).text))
  await ada.reply(id, { body: 'third' })
  const lastEventId = /^id: (.+)$/m.exec(heard)![1]!
  const again = await events({ 'last-event-id': lastEventId })
  expect(await again.next()).toContain(uri)
  await again.cancel()
})
