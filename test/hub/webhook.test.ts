import { createHmac } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runWebhook, type WebhookOptions } from '../../src/hub/webhook.ts'
import { webhookSecret } from '../../src/hub/webhook-signature.ts'
import { askForHelp, submitPlan } from '../../src/mod.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { clockAt, hour } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'
import { exported } from '../helpers/transfer.ts'
import { until } from '../helpers/wait.ts'

interface Received {
  id: string
  type: string
  specversion: string
  data: { from: string; body: string }
}

/** Somebody outside who takes events, and answers as it is told. */
async function receiver(answers: number[] = []) {
  const received: Received[] = []
  const headers: IncomingHttpHeaders[] = []
  const bodies: string[] = []
  const paths: string[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const status = answers.shift() ?? 204
      headers.push(request.headers)
      bodies.push(body)
      paths.push(request.url ?? '')
      if (status < 300) received.push(JSON.parse(body) as Received)
      response.writeHead(status, status === 307 ? { location: '/elsewhere' } : {}).end()
      for (const look of [...waiting]) look()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    headers,
    bodies,
    paths,
    until: (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (received.length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

function start(space: DiskSpace, url: string, options: Partial<WebhookOptions> = {}) {
  const ending = new AbortController()
  const problems: string[] = []
  const onProblem = ({ reason, again }: { reason: string; again: boolean }) =>
    problems.push(`${reason}, ${again ? 'again' : 'given up'}`)
  const running = runWebhook(space, { url, onProblem, pauseMs: 5, lookMs: 20, ...options }, ending.signal)
  const stop = async () => {
    ending.abort()
    await running
  }
  onTestFinished(stop)
  return { problems, stop }
}

it('posts what is for the person, in order, as CloudEvents, and nothing from before it was asked to', async () => {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  await ada.send({ to: 'user', body: 'long ago' })
  const outside = await receiver()
  start(space, outside.url)
  await untilFollowing(space)
  await space.mailbox('bob')
  await ada.send({ to: 'bob', body: 'not for the person' })
  const help = await ada.send({ to: 'user', type: 'help_request', body: 'one', awaitingResponse: true })
  await ada.send({ to: ['bob', 'user'], body: 'two' })
  await outside.until(2)
  expect(outside.received).toMatchObject([
    { specversion: '1.0', id: help.id, type: 'agent-mailbox.message.help_request', data: { from: 'ada' } },
    { data: { body: 'two' } },
  ])
})

it('posts no mail that was imported', async () => {
  const from = await tempSpace()
  await (await from.mailbox('ada')).send({ to: 'user', body: 'old' })
  const space = await tempSpace()
  const outside = await receiver()
  start(space, outside.url)
  await untilFollowing(space)
  await space.importMessages(await exported(from))
  await (await space.mailbox('ada')).send({ to: 'user', body: 'new' })
  await outside.until(1)
  expect(outside.received.map(({ data }) => data.body)).toEqual(['new'])
})

it('tries again while nobody takes it, and goes on where it was after a stop', async () => {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  const outside = await receiver([503, 429, 500])
  const first = start(space, outside.url)
  await untilFollowing(space)
  await ada.send({ to: 'user', body: 'one' })
  await outside.until(1)
  expect(first.problems).toEqual([
    'it answered 503, again',
    'it answered 429, again',
    'it answered 500, again',
  ])
  await first.stop()
  await ada.send({ to: 'user', body: 'two' })
  start(space, outside.url)
  await outside.until(2)
  expect(outside.received.map(({ data }) => data.body)).toEqual(['one', 'two'])
})

it('gives up what is refused for good, and follows nobody elsewhere', async () => {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  const outside = await receiver([400, 307])
  const { problems } = start(space, outside.url)
  await untilFollowing(space)
  for (const body of ['one', 'two', 'three']) await ada.send({ to: 'user', body })
  await outside.until(1)
  expect(outside.received.map(({ data }) => data.body)).toEqual(['three'])
  expect(problems).toEqual(['it answered 400, given up', 'it answered 307, given up'])
})

async function untilFollowing({ dir }: DiskSpace): Promise<void> {
  await until(() => existsSync(join(dir, 'hub', 'webhook.json')))
}

it('signs what it posts, so that the receiver can tell it from what others post', async () => {
  const space = await tempSpace()
  const secret = webhookSecret(space.dir)
  const { url, until: untilPosted, headers, bodies } = await receiver()
  const { stop } = start(space, url)
  const ada = await space.mailbox('ada')
  await until(() => existsSync(join(space.dir, 'hub', 'webhook.json')))
  const { id } = await ada.send({ to: 'user', subject: 'signed', body: 'Grüße' })
  await untilPosted(1)
  await stop()
  expect(secret).toMatch(/^whsec_/)
  expect(statSync(join(space.dir, 'hub', 'webhook-secret')).mode & 0o777).toBe(0o600)
  const { 'webhook-id': sentId, 'webhook-timestamp': at, 'webhook-signature': signature } = headers[0]!
  expect(sentId).toBe(id)
  expect(Math.abs(Date.now() / 1_000 - Number(at))).toBeLessThan(600)
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const sum = createHmac('sha256', key)
    .update(`${id}.${String(at)}.${bodies[0]}`)
    .digest('base64')
  expect(signature).toBe(`v1,${sum}`)
  expect(webhookSecret(space.dir)).toBe(secret)
  expect(webhookSecret(space.dir, { renew: true })).not.toBe(secret)
})

const words = '<!channel> @everyone & <http://evil.example|click>'

it.each([
  [
    'slack',
    '/hook',
    (body: { text: string }) => {
      expect(body.text).toContain('*Urgent: Port &lt;1&gt; (from ada)*')
      expect(body.text).toContain('&lt;!channel&gt; @everyone &amp; &lt;http://evil.example|click&gt;')
      expect(body.text.match(/<[^>]*>/g)).toEqual([expect.stringMatching(/^<http:\/\/hub\/.*\|Open it>$/)])
    },
  ],
  [
    'discord',
    '/hook',
    (body: object) =>
      expect(body).toMatchObject({
        allowed_mentions: { parse: [] },
        content: expect.stringContaining(words),
      }),
  ],
  [
    'teams',
    '/hook',
    (body: object) =>
      expect(body).toMatchObject({
        type: 'message',
        attachments: [{ content: { type: 'AdaptiveCard', actions: [{ type: 'Action.OpenUrl' }] } }],
      }),
  ],
  [
    'ntfy',
    '/',
    (body: object) =>
      expect(body).toMatchObject({
        topic: 'hook',
        priority: 5,
        title: 'Urgent: Port <1> (from ada)',
        message: words,
      }),
  ],
] as const)('posts in the shape of %s, and the words of senders call nobody', async (shape, path, check) => {
  const space = await tempSpace({ settings: { 'webhook.shape': shape } })
  const ada = await space.mailbox('ada')
  const outside = await receiver()
  const ending = new AbortController()
  const linkTo = (message?: { id: string }) => `http://hub/${message?.id}`
  const running = runWebhook(space, { url: outside.url, onProblem: () => {}, linkTo }, ending.signal)
  onTestFinished(async () => {
    ending.abort()
    await running
  })
  // It posts what is sent after it has begun.
  await until(() => existsSync(join(space.dir, 'hub', 'webhook.json')))
  const { id } = await ada.send({ to: 'user', subject: 'Port <1>', body: words, priority: 'urgent' })
  await outside.until(1)
  check(JSON.parse(outside.bodies[0]!))
  expect(JSON.stringify(JSON.parse(outside.bodies[0]!))).toContain(`http://hub/${id}`)
  expect(outside.headers[0]).toMatchObject({
    'webhook-id': id,
    'content-type': expect.stringContaining('json'),
  })
  expect(outside.paths[0]).toBe(path)
})

/** How far the webhook is, by its file. */
const positionOf = ({ dir }: DiskSpace) =>
  JSON.parse(readFileSync(join(dir, 'hub', 'webhook.json'), 'utf8')) as { held?: string[] }

const linkTo = (message?: { id: string }, choice = '') => `http://hub/${message?.id ?? 'all'}/${choice}`

it('keeps quiet outside the hours, rings for urgent mail once, and tells the rest in one post when they begin', async () => {
  // A Sunday.
  const clock = clockAt('2026-11-15T20:00:00.000Z')
  const settings = { hours: 'mon-fri 9-18 UTC', 'webhook.shape': 'ntfy' } as const
  const space = await tempSpace({ settings, now: clock.now })
  const ada = await space.mailbox('ada')
  const user = await space.mailbox('user')
  const outside = await receiver()
  const first = start(space, outside.url, { linkTo })
  await untilFollowing(space)
  const read = await ada.send({ to: 'user', subject: 'Read at night' })
  await ada.send({ to: 'user', subject: 'A question', awaitingResponse: true })
  await user.read(read.id)
  await ada.send({ to: 'user', subject: 'Fire', priority: 'urgent' })
  await outside.until(1)
  expect(JSON.parse(outside.bodies[0]!)).toMatchObject({ title: 'Urgent: Fire (from ada)' })
  // A hub that is started again in the night still knows what waits.
  await first.stop()
  start(space, outside.url, { linkTo })
  await ada.send({ to: 'user', subject: 'One more' })
  await until(() => positionOf(space).held?.length === 3)
  clock.advance(13.5 * hour)
  await outside.until(2)
  const morning = JSON.parse(outside.bodies[1]!) as { title: string; message: string; click: string }
  expect(morning).toMatchObject({ title: 'What happened in the mailbox', click: 'http://hub/all/' })
  expect(morning.message).toContain('A question (from ada')
  await ada.send({ to: 'user', subject: 'In the morning' })
  await outside.until(3)
  expect(outside.bodies.map((body) => (JSON.parse(body) as { title: string }).title)).toEqual([
    ...['Urgent: Fire (from ada)', 'What happened in the mailbox', 'In the morning (from ada)'],
  ])
})

it('gives a program everything when the hours begin, each message by itself', async () => {
  const clock = clockAt('2026-11-15T20:00:00.000Z')
  const space = await tempSpace({ settings: { hours: 'mon-fri 9-18 UTC' }, now: clock.now })
  const ada = await space.mailbox('ada')
  const outside = await receiver([204, 503])
  start(space, outside.url)
  await untilFollowing(space)
  for (const body of ['one', 'two', 'three']) await ada.send({ to: 'user', body })
  await until(() => positionOf(space).held?.length === 3)
  expect(outside.bodies).toEqual([])
  clock.advance(14 * hour)
  await outside.until(3)
  expect(outside.received.map(({ data }) => data.body)).toEqual(['one', 'two', 'three'])
})

it('tells of a matter once: no notice about mail that was posted', async () => {
  const clock = clockAt()
  const space = await tempSpace({ now: clock.now })
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob')
  const outside = await receiver()
  start(space, outside.url)
  await untilFollowing(space)
  const fire = { subject: 'Fire', priority: 'urgent' } as const
  const both = await ada.send({ to: ['bob', 'user'], ...fire })
  await outside.until(1)
  for (let n = 0; n < 2; n++) {
    clock.advance(hour)
    await space.runDue()
  }
  const { messages } = await (await space.mailbox('user')).inbox()
  expect(messages.filter(({ from }) => from === 'system')).toHaveLength(1)
  // Mail that was not posted is a matter of its own.
  await ada.send({ to: 'bob', ...fire })
  for (let n = 0; n < 2; n++) {
    clock.advance(hour)
    await space.runDue()
  }
  const last = await bob.send({ to: 'user', subject: 'Something else' })
  await until(() => outside.received.at(-1)?.id === last.id)
  expect(outside.received.map(({ id, data }) => (data.from === 'system' ? 'notice' : id))).toEqual([
    ...[both.id, 'notice', last.id],
  ])
})

it('posts the digest of the day at its time, once, and after a night without a hub', async () => {
  const clock = clockAt('2026-11-16T10:00:00.000Z')
  const space = await tempSpace({ settings: { 'webhook.digest': 'mon-fri 17:30 UTC' }, now: clock.now })
  const ada = await space.mailbox('ada')
  const outside = await receiver()
  const first = start(space, outside.url)
  await untilFollowing(space)
  const { id } = await ada.send({ to: 'ada', type: 'task_assignment', subject: 'Lexer' })
  await ada.check()
  await ada.done(id, { note: 'green' })
  clock.advance(8 * hour)
  await outside.until(1)
  expect(outside.received[0]).toMatchObject({
    type: 'agent-mailbox.digest',
    data: { finished: [{ subject: 'Lexer', note: 'green', by: 'ada' }] },
  })
  await first.stop()
  clock.advance(50 * hour)
  start(space, outside.url)
  await outside.until(2)
  expect(outside.received[1]).toMatchObject({ data: { since: '2026-11-16T18:00:00.000Z', finished: [] } })
  expect(outside.received).toHaveLength(2)
})

it.each(['slack', 'discord', 'teams', 'ntfy', 'cloudevents'] as const)(
  'has a link for each answer in the shape of %s, and nothing that is encrypted',
  async (shape) => {
    const clock = clockAt('2026-11-16T10:00:00.000Z')
    const settings = { 'webhook.shape': shape, 'webhook.digest': '18:00 UTC' } as const
    const space = await tempSpace({ settings, now: clock.now })
    const ada = await space.mailbox('ada')
    const outside = await receiver()
    start(space, outside.url, { linkTo })
    await untilFollowing(space)
    const open = await askForHelp(ada, { to: 'user', body: 'Which port?', options: ['eighty', 'other'] })
    const plan = await submitPlan(ada, { to: 'user', subject: 'Split', body: 'b' })
    const secret = { subject: 'zebra', body: 'quagga', payload: { options: ['okapi'] } }
    const closed = await ada.send({ to: 'user', awaitingResponse: true, encrypt: true, ...secret })
    await ada.send({ to: 'bob', hold: true, awaitingResponse: true, encrypt: true, ...secret })
    const task = await ada.send({ to: 'ada', type: 'task_assignment', encrypt: true, ...secret })
    await ada.check()
    await ada.done(task.id, { note: 'quagga' })
    clock.advance(9 * hour)
    await outside.until(4)
    const [first = '', second = '', third = '', digest = ''] = outside.bodies
    for (const key of ['1', '2']) expect(first).toContain(`http://hub/${open.id}/${key}`)
    expect(first).toContain('eighty')
    for (const key of ['approve', 'reject']) expect(second).toContain(`http://hub/${plan.id}/${key}`)
    expect(third).toContain(`http://hub/${closed.id}/`)
    for (const body of [third, digest]) expect(body).not.toMatch(/zebra|quagga|okapi/)
    expect(digest).toContain(shape === 'cloudevents' ? open.id : 'Help wanted (urgent, from ada')
  },
)
