import { describe, expect, it } from 'vitest'
import { revokeAgentToken } from '../../src/hub/tokens.ts'
import { connectHttp, eras } from '../helpers/mcp.ts'
import { until } from '../helpers/wait.ts'
import { stageMcp } from './hub.ts'
import { ask, begin, callOf, modernHeaders } from './wire.ts'

describe.each(eras)('MCP over HTTP in the protocol of %s', (_, mode) => {
  it('shows an agent its own mail, and everything to a token that reads everything', async () => {
    const { space, mcpUrl, tokenOf } = await stageMcp()
    const ada = await space.mailbox('ada')
    await space.join('bob')
    const { id } = await ada.send({ to: 'bob', subject: 'the vault', awaitingResponse: true })
    const mallory = await connectHttp(mcpUrl, tokenOf('mallory'), mode)
    expect((await mallory.call('search', { query: 'vault' })).facts['messages']).toEqual([])
    expect((await mallory.call('owed', { all: true })).facts['owed']).toEqual([])
    for (const thread of [true, false])
      expect(await mallory.refused('read', { id, thread })).not.toContain('vault')
    await expect(mallory.client.readResource({ uri: `mailbox://message/${id}` })).rejects.toThrow()
    await expect(mallory.client.readResource({ uri: `mailbox://thread/${id}` })).rejects.toThrow()

    const seer = await connectHttp(mcpUrl, tokenOf('seer', { scopes: ['act', 'read-all'] }), mode)
    expect((await seer.call('search', { query: 'vault' })).facts['messages']).toMatchObject([{ id }])
    expect((await seer.call('owed', { all: true })).facts['owed']).toMatchObject([{ id }])
    expect((await seer.call('read', { id, thread: true })).text).toContain('vault')
  })
})

it.each([
  ['older', false],
  ['newer', true],
])('ends a call over MCP at once when its token is revoked, in the %s protocol', async (_, isModern) => {
  const { space, mcp, mcpUrl, tokenOf } = await stageMcp()
  const token = tokenOf('bob')
  const headers = isModern
    ? { authorization: `Bearer ${token}`, ...modernHeaders('wait') }
    : await begin(mcpUrl, token)
  const { answer } = ask(mcpUrl, { headers, body: callOf('wait', { seconds: 600 }, isModern) })
  await until(() => mcp.counts().calls === 1)
  revokeAgentToken(space.dir, 'bob')
  expect(await answer).toMatchObject(
    isModern ? { status: 401 } : { status: 200, text: expect.not.stringContaining('{') },
  )
  await until(() => mcp.counts().calls === 0)
  expect((await ask(mcpUrl, { headers, body: callOf('check', {}, isModern) }).answer).status).toBe(401)
})
