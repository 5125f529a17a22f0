import { ResourceNotFoundError } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { type Connected, ways } from '../helpers/mcp.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

/** Each door and each protocol once; `npm run storm` has every pair of them. */
const pairs = inStorm(ways, [ways[0]!, ways[3]!])

describe.each(pairs)('two agents over %s in the protocol of %s', (door, era, open, mode) => {
  const meet = async (dir = tempDir()): Promise<[Connected, Connected]> => {
    const comeIn = await open(dir, mode)
    return [await comeIn('ada'), await comeIn('bob')]
  }

  it('send, wait, check, handle, read a thread and see what is owed', async () => {
    const [ada, bob] = await meet()
    await bob.call('agents', { roles: ['porter'] })
    const waiting = bob.call('wait', { from: 'ada', seconds: 30 })
    const asked = await ada.call('send', {
      to: 'bob',
      subject: 'Port',
      body: 'Which port?',
      await: true,
      ack: true,
    })
    expect((await waiting).text).toContain('Which port?')
    const id = asked.facts['id'] as string
    expect((await bob.call('owed')).facts['owed']).toMatchObject([
      { id, kind: 'ack' },
      { id, kind: 'question' },
    ])
    await bob.call('handle', { id, step: 'ack' })
    await bob.call('send', { replyTo: id, body: '8080' })
    expect((await ada.call('check')).text).toContain('8080')
    await bob.call('handle', { id, step: 'done', note: 'told' })
    const thread = await ada.call('read', { id, thread: true })
    expect(thread.facts['messages']).toMatchObject([{ from: 'ada' }, { from: 'bob' }])
    expect((await ada.call('owed', { all: true })).facts['owed']).toEqual([])
    expect((await ada.call('agents')).text).toContain('bob: alive, porter')
    expect((await ada.call('search', { query: 'port from:ada' })).facts['messages']).toMatchObject([{ id }])
  })

  it('write to several at once, in one word or as a list', async () => {
    const [ada, bob] = await meet()
    await bob.call('agents', { roles: ['porter'] })
    for (const to of ['bob, role:porter', ['bob', 'role:porter']])
      expect((await ada.call('send', { to, body: 'to both' })).text).toContain('to bob, role:porter')
    expect(await ada.refused('send', { to: 'bob,', body: 'x' })).toMatch(/^invalid: /)
  })

  it('wait for several answers at once, for an ack, and until a task is done', async () => {
    const [ada, bob] = await meet()
    await bob.call('agents')
    const send = async (fields: object) =>
      (await ada.call('send', { to: 'bob', body: '-', ...fields })).facts['id'] as string
    const [one, other] = [await send({ await: true }), await send({ await: true })]
    const task = await send({ type: 'task_assignment', ack: true })
    const answers = ada.call('wait', { replyTo: `${one}, ${other}`, seconds: 30 })
    await bob.call('send', { replyTo: one, body: 'FIRST' })
    await bob.call('send', { replyTo: other, body: 'SECOND' })
    const { text, facts } = await answers
    expect(text).toMatch(/FIRST[\s\S]*SECOND/)
    expect(facts['messages']).toMatchObject([{ from: 'bob' }, { from: 'bob' }])

    expect(await ada.call('wait', { acked: task, seconds: 0 })).toMatchObject({
      text: 'not acknowledged yet',
      facts: { acked: false },
    })
    const ended = ada.call('wait', { settled: task, seconds: 30 })
    await bob.call('handle', { id: task, step: 'done' })
    expect((await ended).facts).toMatchObject({
      settled: true,
      matters: [
        { id: task, kind: 'ack', state: 'acked' },
        { id: task, kind: 'task', by: 'bob', state: 'done' },
      ],
    })
    expect((await ada.call('wait', { acked: task })).text).toBe('acknowledged')

    const late = await send({ await: true })
    await bob.call('send', { replyTo: late, body: 'THIRD' })
    const partly = await ada.call('wait', { from: 'bob', type: 'response', count: 2, seconds: 0.5 })
    expect(partly.text).toMatch(/THIRD[\s\S]*1 more did not arrive$/)
  })

  it('hand work over with every other field of a message', async () => {
    const [ada, bob] = await meet()
    await bob.call('agents')
    const { facts } = await ada.call('send', { to: 'bob', subject: 'Parser', body: 'Where are we?' })
    await bob.call('send', {
      ...{ to: 'ada', replyTo: facts['id'], body: 'Read this first.', priority: 'urgent', ack: true },
      handoff: { workCompleted: 'The lexer', nextSteps: ['Build it'] },
    })
    const { text } = await ada.call('check')
    expect(text).toMatch(/, handoff, urgent, needs an ack\./)
    // Its fields are said once, in words.
    expect(text).toMatch(/Read this first\.\s+Work handoff from bob to ada\.[\s\S]*- Build it\nmail \w+>>>$/)
    const thread = await ada.call('read', { id: facts['id'], thread: true })
    expect(thread.facts['messages']).toMatchObject([{ from: 'ada' }, { from: 'bob', type: 'handoff' }])
  })

  it('hand work over, and judge a plan', async () => {
    const [ada, bob] = await meet()
    await bob.call('agents', { roles: ['lead'] })
    await ada.call('send', {
      to: 'bob',
      subject: 'Parser',
      handoff: { workCompleted: 'The lexer', nextSteps: ['Build it'] },
    })
    expect((await bob.call('check')).text).toContain('Build it')
    const plan = await ada.call('send', {
      to: 'role:lead',
      type: 'plan_submission',
      subject: 'Cut it',
      body: 'In two',
    })
    const id = plan.facts['id'] as string
    expect((await bob.call('handle', { id, step: 'reject', note: 'Too large' })).facts).toMatchObject({
      state: 'rejected',
    })
    expect(await bob.refused('handle', { id, step: 'approve' })).toMatch(
      /^conflict: the plan is rejected.*\nsee how it got there/,
    )
  })

  it('see resources change: a thread with a reply, a message with a step on its ladder', async () => {
    const [ada, bob] = await meet()
    await bob.call('agents')
    const { facts } = await ada.call('send', { to: 'bob', body: 'Which port?' })
    const id = facts['id'] as string
    const [thread, message] = [`mailbox://thread/${facts['threadId']}`, `mailbox://message/${id}`]
    const told = updatesOf(ada)
    const ends = [await subscribe(ada, thread), await subscribe(ada, message)]

    await bob.call('send', { replyTo: id, body: '8080' })
    await told.of(thread)
    await bob.call('handle', { id, step: 'done' })
    await told.of(message)

    for (const end of ends) await end()
    told.seen.length = 0
    const still = updatesOf(bob)
    await subscribe(bob, thread)
    await ada.call('send', { replyTo: id, body: 'thanks' })
    // Whoever still listens has heard of it; and after an answer of its own nothing can be on its way to the other.
    await still.of(thread)
    await ada.call('agents')
    expect(told.seen).toEqual([])
  })

  it('read resources without changing anything', async () => {
    const dir = tempDir()
    const [ada, bob] = await meet(dir)
    await bob.call('agents')
    const { facts } = await ada.call('send', { to: 'bob', subject: 'Port', body: 'Which port?' })
    const id = facts['id'] as string
    const space = await tempSpace({ dir })
    const before = await space.lastSeq()
    const { resources } = await bob.client.listResources()
    expect(resources).toMatchObject([{ uri: `mailbox://message/${id}`, name: `Message ${id} from "ada"` }])
    for (const uri of [`mailbox://message/${id}`, `mailbox://thread/${id}`]) {
      const { contents } = await bob.client.readResource({ uri })
      expect(contents).toMatchObject([{ uri, mimeType: 'text/markdown' }])
      expect((contents[0] as { text: string }).text).toMatch(/^<<<mail [0-9a-f]{12}$.*Which port\?/ms)
    }
    expect(await space.lastSeq()).toBe(before)
    expect((await bob.call('check')).text).toContain('Which port?')
    await expect(
      bob.client.readResource({ uri: `mailbox://message/${'x'.repeat(300)}` }),
    ).rejects.toMatchObject({ code: -32_602 })
    await expect(bob.client.readResource({ uri: 'mailbox://message/nothing' })).rejects.toThrow(
      ResourceNotFoundError,
    )
  })

  it('pay under 2,000 tokens for at most 8 tools, instructions included', async () => {
    const { client } = await (await open(tempDir(), mode))('ada')
    const { tools } = await client.listTools()
    const text = JSON.stringify(tools) + client.getInstructions()
    // Three characters a token is more than any tokenizer needs for JSON and English.
    const tokens = Math.ceil(text.length / 3)
    console.log(
      `mcp over ${door}, ${era}: ${tools.length} tools, ${text.length} characters, about ${Math.ceil(text.length / 4)} tokens, under ${tokens}`,
    )
    expect(tools.length).toBeLessThanOrEqual(8)
    expect(tokens).toBeLessThan(2_000)
  })

  /** Subscribes as the era does it; gives what ends it. */
  async function subscribe({ client }: Connected, uri: string): Promise<() => Promise<unknown>> {
    if (mode === 'legacy') {
      await client.subscribeResource({ uri })
      return () => client.unsubscribeResource({ uri })
    }
    const listening = await client.listen({ resourceSubscriptions: [uri] })
    expect(listening.honoredFilter).toEqual({ resourceSubscriptions: [uri] })
    return () => listening.close()
  }
})

/** What a client is told of changes, in the order it comes. */
function updatesOf({ client }: Connected) {
  const seen: string[] = []
  const waiting = new Set<() => void>()
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    seen.push(params.uri)
    for (const look of [...waiting]) look()
  })
  const of = (uri: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!seen.includes(uri)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { seen, of }
}
