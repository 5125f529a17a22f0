import { describe, expect, it } from 'vitest'
import { connect, connectHttp, eras, ways } from '../helpers/mcp.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { stageMcp } from './hub.ts'
import { callOf, modernHeaders } from './wire.ts'

describe.each(ways)('over %s in the protocol of %s', (_door, _era, open, mode) => {
  it('no argument and no meta makes one agent another', async () => {
    const comeIn = await open(tempDir(), mode)
    const [ada, bob] = [await comeIn('ada'), await comeIn('bob')]
    await ada.call('agents')
    const disguise = { from: 'ada', as: 'ada', agent: 'ada', name: 'ada' }
    const meta = { ...disguise, sessionId: 'ada', 'mailbox/agent': 'ada' }
    expect((await bob.call('agents', {}, meta)).facts['you']).toBe('bob')
    expect((await bob.call('send', { ...disguise, to: 'user', body: 'hi' }, meta)).facts['from']).toBe('bob')
    await ada.call('send', { to: 'ada', body: 'to myself' })
    expect((await bob.call('check', disguise, meta)).facts['messages']).toEqual([])
    const { agents } = (await bob.call('agents', disguise)).facts as { agents: { name: string }[] }
    expect(agents.map(({ name }) => name).toSorted()).toEqual(['ada', 'bob', 'user'])
  })
})

describe('over HTTP', () => {
  it.each(eras)('no header and no name of a client does, in the protocol of %s', async (_, mode) => {
    const staged = await stageMcp()
    await staged.space.mailbox('ada')
    const headers = {
      'x-agent': 'ada',
      'mailbox-agent': 'ada',
      'x-forwarded-user': 'ada',
      cookie: 'agent=ada',
    }
    const options = { clientName: 'ada', headers }
    const bob = await connectHttp(`${staged.mcpUrl}?as=ada&agent=ada`, staged.tokenOf('bob'), mode, options)
    expect((await bob.call('agents', {}, { sessionId: 'a session of ada' })).facts['you']).toBe('bob')
    expect((await bob.call('send', { to: 'user', body: 'hi' })).facts['from']).toBe('bob')
    const found = (await staged.space.agents()).find(({ name }) => name === 'bob')
    // Nothing ties it to a process or a session on this machine, where a client could take it for its own.
    expect(found?.session).toMatchObject({ client: 'ada' })
    expect(found?.session).not.toHaveProperty('id')
    expect(found?.session).not.toHaveProperty('pid')
  })

  it('requests of a new agent that come at once join it once', async () => {
    const { mcp, space } = await stageMcp()
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...modernHeaders('agents'),
    }
    const init = { method: 'POST', headers, body: JSON.stringify(callOf('agents', {}, true)) }
    // Handed over directly: on sockets of their own they would hardly ever meet.
    const wishes = Array.from({ length: 10 }, () =>
      mcp.fetch(new Request('http://127.0.0.1/mcp', init), { agent: 'bob', isStillGood: () => true }),
    )
    for (const { status } of await Promise.all(wishes)) expect(status).toBe(200)
    const found = (await space.agents()).find(({ name }) => name === 'bob')
    expect(found).toMatchObject({ session: { generation: 1 } })
  })

  it.each(eras)(
    'an agent that has left comes back with its next call, in the protocol of %s',
    async (_, mode) => {
      const staged = await stageMcp()
      const bob = await connectHttp(staged.mcpUrl, staged.tokenOf('bob'), mode)
      await bob.call('agents')
      await staged.space.leave('bob')
      expect((await bob.call('send', { to: 'user', body: 'back' })).facts['from']).toBe('bob')
    },
  )
})

describe('over standard input and output, where nobody names them', () => {
  it.each(eras)('each client is an agent, in the protocol of %s', async (_, mode) => {
    const dir = tempDir()
    const [one, two] = [await connect(dir, undefined, mode, true), await connect(dir, undefined, mode, true)]
    expect((await one.call('agents')).facts['you']).toBe('story-teller-1')
    expect((await two.call('agents')).facts['you']).toBe('story-teller-2')
  })

  it.each(eras)('two servers of one client are one agent, in the protocol of %s', async (_, mode) => {
    const dir = tempDir()
    const [one, two] = [await connect(dir, undefined, mode), await connect(dir, undefined, mode)]
    const both = await Promise.all([one.call('agents'), two.call('agents')])
    expect(both.map(({ facts }) => facts['you'])).toEqual(['story-teller-1', 'story-teller-1'])
  })

  it.each(eras)('two sessions in one client are two agents, in the protocol of %s', async (_, mode) => {
    const client = await connect(tempDir(), undefined, mode)
    const you = async (sessionId: string) => (await client.call('agents', {}, { sessionId })).facts['you']
    const names = [await you('one'), await you('two'), await you('one')]
    expect(names).toEqual(['story-teller-1', 'story-teller-2', 'story-teller-1'])
    await client.call('send', { to: 'story-teller-2', body: 'for the other' }, { sessionId: 'one' })
    expect((await client.call('check', {}, { sessionId: 'one' })).text).toBe('no new mail')
    expect((await client.call('check', {}, { sessionId: 'two' })).text).toContain('for the other')
  })

  it('a session whose hooks came first is the agent that they have made it', async () => {
    const space = await tempSpace()
    // This process is the client that starts the server.
    const session = (id: string) => ({ client: 'story-teller', session: { pid: process.pid, id } })
    const [first, second] = [await space.joinAs(session('one')), await space.joinAs(session('two'))]
    expect(first.name).not.toBe(second.name)
    const client = await connect(space.dir, undefined)
    for (const [id, { name }] of [
      ['one', first],
      ['two', second],
    ] as const)
      expect((await client.call('agents', {}, { sessionId: id })).facts['you']).toBe(name)
    expect((await space.agents()).filter(({ name }) => name.startsWith('story-teller'))).toHaveLength(2)
  })

  it('a subagent of Codex gets no mail, and may write', async () => {
    const space = await tempSpace()
    const client = await connect(space.dir, undefined)
    const main = { sessionId: 'main', threadId: 'main' }
    const sub = { sessionId: 'main', threadId: 'sub' }
    const { you } = (await client.call('agents', {}, main)).facts
    const ada = await space.mailbox('ada')
    const { id } = await ada.send({ to: String(you), body: 'for the main agent' })
    for (const [tool, input] of [
      ['check', {}],
      ['read', { id }],
      ['wait', { seconds: 0 }],
      ['handle', { id, step: 'done' }],
    ] as const)
      await expect(client.call(tool, input, sub), tool).rejects.toThrow('Tell that agent in your report')
    expect((await client.call('send', { to: 'ada', body: 'hello' }, sub)).facts['from']).toBe(you)
    const spawned = { sessionId: 'main', 'x-codex-turn-metadata': { thread_source: 'subagent' } }
    await expect(client.call('check', {}, spawned)).rejects.toThrow('not_permitted')
    expect((await client.call('check', {}, main)).text).toContain('for the main agent')
  })

  it('a session that belongs to another agent is found although the server came first', async () => {
    const space = await tempSpace()
    const earlier = { client: 'story-teller', session: { pid: 1, id: 'one' } }
    const owner = await space.joinAs(earlier)
    await owner.leave({ frozen: true })
    const client = await connect(space.dir, undefined)
    const you = async () => (await client.call('agents')).facts['you']
    // Nobody has said which session it is.
    expect(await you()).toBe('story-teller-2')
    const hook = await space.joinAs({ client: 'story-teller', session: { pid: process.pid, id: 'one' } })
    expect(hook.name).toBe(owner.name)
    expect(await you()).toBe(owner.name)
    const agents = (await space.agents()).map(({ name, state }) => [name, state])
    expect(agents).toEqual(
      expect.arrayContaining([
        [owner.name, 'alive'],
        ['story-teller-2', 'dead'],
      ]),
    )
  })
})
