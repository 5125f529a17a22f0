import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import type { Entry } from '../../src/model/entry.ts'
import type { HubOptions } from '../../src/remote/connection.ts'
import { openSpace } from '../../src/space/open.ts'
import { stageHub } from '../helpers/hub.ts'
import { until } from '../helpers/wait.ts'
import { stageWire } from './wire.ts'

/** Opens a remote space for the length of a test. */
async function openRemote(options: HubOptions) {
  const space = await openSpace(options)
  onTestFinished(() => space.close())
  return space
}

const refused = (code: string) => ({ code, name: 'MailboxError', hint: expect.any(String) })

it('says what is wrong with an address, a token and a name', async () => {
  const stage = await stageHub()
  await stage.space.join('ada')
  const { url } = stage
  await expect(openSpace({ url: 'ftp://x', token: 'x' })).rejects.toMatchObject(refused('invalid'))
  await expect(openSpace({ url, token: '' })).rejects.toMatchObject(refused('invalid'))
  await expect(openSpace({ url, token: 'mbx_wrong' })).rejects.toMatchObject(refused('not_permitted'))
  const nobody = openSpace({ url: 'http://127.0.0.1:9', token: 'x', retryForMs: 100 })
  await expect(nobody).rejects.toMatchObject(refused('unreachable'))
  const ada = await openRemote({ url: `${url}/#token=whatever`, token: stage.agentToken('ada') })
  await expect(ada.mailbox('bob')).rejects.toMatchObject(refused('not_permitted'))
  await expect(ada.leave('user')).rejects.toMatchObject(refused('not_permitted'))
  const bob = await openRemote({ url, token: stage.agentToken('bob') })
  await expect(bob.mailbox('bob', { join: false })).rejects.toMatchObject(refused('not_found'))
})

it('joins with its process as its own machine describes it, and is heard of while it runs', async () => {
  const stage = await stageHub({ open: { settings: { heartbeatMs: 400, pollMs: 20 } } })
  const agent = async (name: string) => (await stage.space.agents()).find((one) => one.name === name)!
  const ada = await openRemote({ url: stage.url, token: stage.agentToken('ada') })
  await ada.mailbox('ada', { join: { roles: ['lead'] } })
  expect((await agent('ada')).session).toMatchObject({ generation: 1, pid: process.pid })
  // A second look from the same process is the same run.
  await ada.mailbox('ada')
  expect((await agent('ada')).session.generation).toBe(1)

  // Nobody here sees a process of another machine.
  const far = await openRemote({ url: stage.url, token: stage.agentToken('far') })
  await far.mailbox('far', { join: { session: { host: 'elsewhere', pid: 7, pidStart: 'x/1' } } })
  let beats = 0
  for await (const { entry } of stage.space.follow({ after: await stage.space.lastSeq() }))
    if (entry.kind === 'agent' && entry.agent.name === 'far' && entry.change === 'updated' && ++beats === 5)
      break
  expect(await agent('far')).toMatchObject({ state: 'alive', session: { generation: 1 } })
  await far.close()
  await until(async () => (await agent('far')).state === 'dead')
})

it('asks again where that is safe, and never where it is not', async () => {
  const stage = await stageWire()
  const space = await openRemote({ url: stage.url, token: stage.agentToken('ada'), retryForMs: 10_000 })
  const ada = await space.mailbox('ada')
  await stage.space.join('bob')
  const sent = async () =>
    (await (await stage.space.mailbox('ada')).sent()).messages.map(({ subject }) => subject)

  stage.deafen(true)
  await expect(ada.send({ to: 'bob', subject: 'once' })).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('may or may not'),
  })
  // It was carried out, and it was carried out once.
  expect(await sent()).toEqual(['once'])
  const keyed = ada.send({ to: 'bob', subject: 'with a key', key: 'k' })
  const counted = ada.count()
  // The key went over at least twice, and so did the question.
  const asked = (operation: string) =>
    stage.metric(`mailbox_http_requests_total{operation="${operation}",status="200"}`)
  await until(async () => (await asked('send')) >= 3 && (await asked('count')) >= 2)
  stage.deafen(false)
  expect(await keyed).toMatchObject({ subject: 'with a key', warnings: ['already sent with this key'] })
  expect(await counted).toMatchObject({ unread: 0 })
  expect(await sent()).toEqual(['with a key', 'once'])
})

it.each(['sse', 'websocket'] as const)(
  'misses and doubles nothing over %s when connections break',
  async (stream) => {
    const stage = await stageWire()
    const token = stage.agentToken('bob', { scopes: ['act', 'read-all'] })
    const space = await openRemote({ url: stage.url, token, stream })
    const bob = await space.mailbox('bob')
    const ada = await stage.space.mailbox('ada')
    const over = new AbortController()
    const [entries, mail]: [number[], string[]] = [[], []]
    const following = (async () => {
      for await (const { entry } of space.follow({ after: 0, signal: over.signal })) entries.push(entry.seq)
    })()
    const watching = (async () => {
      for await (const { subject } of bob.watch({ signal: over.signal })) mail.push(subject)
    })()
    const waiting = bob.wait({ type: 'last', timeoutMs: 60_000 })
    const subjects: string[] = []
    for (let n = 0; n < 120; n++) {
      subjects.push(`${n}`)
      await ada.send({ to: 'bob', subject: `${n}` })
      if (n % 20 === 10) stage.cut()
    }
    await ada.send({ to: 'bob', subject: 'waited for', type: 'last' })
    expect(await waiting).toMatchObject({ subject: 'waited for' })
    subjects.push('end')
    await ada.send({ to: 'bob', subject: 'end' })
    const end = await stage.space.lastSeq()
    await until(() => entries.at(-1)! >= end && mail.at(-1) === 'end')
    over.abort()
    await Promise.all([following, watching])
    expect(entries.slice(0, end)).toEqual(Array.from({ length: end }, (_, at) => at + 1))
    // Whether it was seen before it was taken is a matter of luck.
    expect(mail.filter((subject) => subject !== 'waited for')).toEqual(subjects)
  },
)

it('ends everything that waits or follows when it is closed', async () => {
  const stage = await stageHub()
  const space = await openRemote({ url: stage.url, token: stage.agentToken('bob') })
  const bob = await space.mailbox('bob')
  const waits = [
    bob.wait(),
    bob.wait({ match: () => true }),
    bob.waitForAck((await bob.send({ to: 'user' })).id),
  ]
  const following = (async () => {
    for await (const _ of space.follow()) void _
  })()
  await until(async () => (await stage.metric('mailbox_waits')) === 1)
  await until(async () => (await stage.metric('mailbox_streams{kind="sse"}')) === 3)
  const settled = Promise.allSettled(waits)
  await space.close()
  await following
  for (const { status, ...rest } of await settled)
    expect({ status, ...rest }).toMatchObject({ status: 'rejected', reason: { code: 'closed' } })
  await until(async () => (await stage.metric('mailbox_waits')) === 0)
  await until(async () => (await stage.metric('mailbox_streams{kind="sse"}')) === 0)
})

it('resumes after what the hub has read for it, however the events are cut up', async () => {
  const { space } = await stageHub()
  const { seq } = await (await space.mailbox('ada')).send({ to: 'user', subject: 'Grüße' })
  const entries: Entry[] = []
  for await (const { entry } of space.follow({ after: 0 })) {
    entries.push(entry)
    if (entry.seq === seq) break
  }
  const stream = `retry: 1000\n: from 0\n\n${entries
    .map((entry) => `id: ${entry.seq}\nevent: entry\ndata: ${JSON.stringify(entry)}\n\n`)
    .join('')}id: 900\n\n: beat 900\n\n`
  const asked: string[] = []
  const over = new AbortController()
  const server = createServer((request, response) => {
    if (request.url!.startsWith('/api/space'))
      return void response.end(JSON.stringify({ id: space.id, at: new Date().toISOString(), settings: {} }))
    asked.push(new URL(request.url!, 'http://hub').searchParams.get('after')!)
    if (asked.length > 1) return over.abort()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // A letter of two bytes is cut in half as well.
    for (const byte of Buffer.from(stream)) response.write(Buffer.of(byte))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const remote = await openRemote({ url: `http://127.0.0.1:${port}`, token: 'mbx_any' })
  const seen: Entry[] = []
  for await (const { entry } of remote.follow({ after: 0, signal: over.signal })) seen.push(entry)
  expect(seen).toEqual(entries)
  expect(asked).toEqual(['0', '900'])
})

it('acts with the claims it has made, and is refused when a namesake has claimed the mail since', async () => {
  const stage = await stageHub({ open: { settings: { pollMs: 20 } } })
  const { url } = stage
  await stage.space.join('bob', { roles: ['r'] })
  const ada = await stage.space.mailbox('ada')
  const token = stage.agentToken('bob')
  const open = async () => (await openRemote({ url, token })).mailbox('bob', { join: false })
  const [first, second] = [await open(), await open()]
  const { id } = await ada.send({ to: 'role:r' })
  const before = (await first.claim(id, { ttlMs: 300 })).claim
  await expect(second.claim(id)).rejects.toMatchObject(refused('conflict'))
  const after = (await until(() => second.claimNext('r'))).claim
  expect(after.number).toBeGreaterThan(before.number!)
  for (const late of [
    () => first.done(id),
    () => first.release(id),
    () => first.claim(id),
    () => first.start(id),
    () => first.fail(id, { reason: 'late' }),
  ])
    await expect(late()).rejects.toMatchObject(refused('conflict'))
  expect((await second.claim(id)).claim.number).toBe(after.number)
  expect(await second.start(id)).toMatchObject({ state: 'processing', claimNumber: after.number })
  expect(await second.done(id)).toMatchObject({ state: 'archived' })

  const next = await ada.send({ to: 'role:r' })
  expect((await first.check()).messages).toMatchObject([
    { id: next.id, claimNumber: await stage.space.lastSeq() },
  ])
  await first.release(next.id)
  // Free again: whoever had it before may have it once more.
  expect((await first.claim(next.id)).claim).toMatchObject({ attempt: 2 })
})

it('claims and finishes work over a hub from before claims had numbers', async () => {
  const stage = await stageHub()
  // Such a hub refuses the field, and has no numbers in its answers.
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts).toString()
    const refusal = '{"error":{"code":"invalid","message":"unknown field: claimNumber"}}'
    const { status, text } = body.includes('"claimNumber"')
      ? { status: 400, text: refusal }
      : await stage.ask(request.url!, {
          method: request.method!,
          token: request.headers.authorization!.slice(7),
          ...(body === '' ? {} : { raw: body }),
        })
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(text.replaceAll(/,"(claimNumber|number)":\d+/g, ''))
  }
  const older = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => older.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void older.close())
  const { port } = older.address() as { port: number }
  const space = await openRemote({ url: `http://127.0.0.1:${port}`, token: stage.agentToken('ada') })
  const ada = await space.mailbox('ada', { join: { roles: ['tester'] } })
  const person = await stage.space.mailbox('user')
  const [one, two] = [
    await person.send({ to: 'role:tester', subject: 'one' }),
    await person.send({ to: 'role:tester', subject: 'two' }),
  ]
  await ada.claim(one.id)
  await ada.claim(one.id)
  await ada.start(one.id)
  await ada.done(one.id)
  await ada.claim(two.id)
  await ada.release(two.id)
  const states = await Promise.all(
    [one, two].map(async ({ id }) => (await stage.space.show(id)).receipts[0]!.state),
  )
  expect(states).toEqual(['archived', 'stored'])
})
