import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { Feed } from '../../src/hub/feed.ts'
import { sseFrame } from '../../src/hub/frames.ts'
import type { Entry } from '../../src/model/entry.ts'
import { openSpace } from '../../src/space/open.ts'
import { Survey } from '../../src/space/survey.ts'
import { type Stage, stageHub } from '../helpers/hub.ts'
import { letPass, until } from '../helpers/wait.ts'

/** Follows over a WebSocket; what has come so far. */
function overSocket(
  { url, token }: Pick<Stage, 'url' | 'token'>,
  query = '',
): { seqs: number[]; close(): void } {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/stream${query}`, [
    'mailbox',
    `bearer.${token}`,
  ])
  const seqs: number[] = []
  socket.on('message', (data: Buffer) => {
    const { seq, entry } = JSON.parse(data.toString()) as { seq: number; entry: Entry }
    seqs.push(entry.seq === seq ? seq : Number.NaN)
  })
  onTestFinished(() => socket.terminate())
  return { seqs, close: () => socket.terminate() }
}

/** Follows server-sent events as a browser reads them. */
function overEvents({ url, token }: Stage, query = '', headers: Record<string, string> = {}) {
  const gone = new AbortController()
  onTestFinished(() => gone.abort())
  const seqs: number[] = []
  const running = (async () => {
    const response = await fetch(`${url}/api/stream${query}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
      signal: gone.signal,
    })
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    let text = ''
    for await (const part of response.body!) {
      text += Buffer.from(part).toString()
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      for (const block of blocks) {
        const event = /^id: (\d+)\nevent: entry\ndata: (.*)$/.exec(block)
        if (event === null) continue
        const { seq } = JSON.parse(event[2]!) as Entry
        seqs.push(seq === Number(event[1]) ? seq : Number.NaN)
      }
    }
  })().catch(() => {})
  return { seqs, close: () => gone.abort(), running }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

it('continues from every entry without a gap, at the edge of what is kept in memory too', async () => {
  const { space } = await stageHub()
  const ada = await space.mailbox('ada')
  const survey = new Survey(space.core)
  // A window so small that it is halved again and again while the entries come in.
  const feed = new Feed(space, survey, { keptChars: 2_000 })
  await feed.start()
  onTestFinished(() => feed.stop())
  for (let n = 0; n < 40; n++) await ada.send({ to: 'user', subject: `${n}` })
  const end = await space.lastSeq()
  await until(async () => feed.last === end)
  const firstOf = (chunk: { bytes: Buffer } | undefined) =>
    chunk === undefined ? undefined : Number(/^id: (\d+)\n/.exec(chunk.bytes.toString())?.[1])
  expect(feed.chunkAfter(0, sseFrame)).toBeUndefined()
  for (let after = 0; after < end; after++) {
    const chunk = feed.chunkAfter(after, sseFrame) ?? (await feed.readAfter(after, sseFrame))
    expect(firstOf(chunk)).toBe(after + 1)
  }
  expect(feed.chunkAfter(end, sseFrame)).toBeUndefined()
})

it('streams the same entries over both, from the start, from a place, and from the end', async () => {
  const stage = await stageHub()
  const ada = await stage.space.mailbox('ada')
  for (let n = 0; n < 30; n++) await ada.send({ to: 'user', subject: `${n}` })
  const before = await stage.space.lastSeq()
  const all = [overSocket(stage, '?after=0'), overEvents(stage, '?after=0')]
  const some = [
    overSocket(stage, '?after=20'),
    overEvents(stage, '?after=20'),
    overEvents(stage, '?after=3', { 'last-event-id': '20' }),
  ]
  const fresh = [overSocket(stage), overEvents(stage)]
  await until(async () => (await stage.metric('mailbox_streams{kind="sse"}')) === 4)
  await until(async () => (await stage.metric('mailbox_streams{kind="websocket"}')) === 3)
  for (let n = 0; n < 30; n++) await ada.send({ to: 'user', subject: `more ${n}` })
  const end = await stage.space.lastSeq()
  await until(() => [...all, ...some, ...fresh].every(({ seqs }) => seqs.at(-1) === end))
  for (const { seqs } of all) expect(seqs).toEqual(range(1, end))
  for (const { seqs } of some) expect(seqs).toEqual(range(21, end))
  for (const { seqs } of fresh) expect(seqs).toEqual(range(before + 1, end))
})

it('streams what concerns one mailbox, as its roles change', async () => {
  const stage = await stageHub()
  const ada = await stage.space.mailbox('ada')
  await stage.space.join('bob', { roles: ['tester'] })
  await stage.space.join('cy')
  const stream = overEvents(stage, '?mailbox=bob')
  await until(async () => (await stage.metric('mailbox_streams{kind="sse"}')) === 1)
  const wanted: number[] = []
  const send = async (to: string, isWanted: boolean) => {
    const { seq } = await ada.send({ to, subject: 'x' })
    if (isWanted) wanted.push(seq)
  }
  await send('bob', true)
  await send('cy', false)
  await send('role:tester', true)
  await send('role:lead', false)
  await send('all', true)
  await stage.space.update('bob', { addRoles: ['lead'] })
  wanted.push(await stage.space.lastSeq())
  await send('role:lead', true)
  await stage.space.update('cy', { note: 'none of bob’s business' })
  await send('bob', true)
  await until(() => stream.seqs.at(-1) === wanted.at(-1))
  expect(stream.seqs).toEqual(wanted)
})

it('reads the journal for whoever comes back from long ago, and goes on live without a seam', async () => {
  const stage = await stageHub({ limits: { keptChars: 20_000 } })
  const ada = await stage.space.mailbox('ada')
  const big = 'x'.repeat(2_000)
  // More than the hub keeps at hand, while followers come at every stage of it.
  const followers = [overSocket(stage, '?after=0')]
  for (let n = 0; n < 400; n++) {
    void ada.send({ to: 'user', subject: `${n}`, body: big })
    if (n % 100 === 50) followers.push(overSocket(stage, '?after=1'), overEvents(stage, '?after=1') as never)
    if (n % 20 === 0) await new Promise(setImmediate)
  }
  const { seq: end } = await ada.send({ to: 'user', subject: 'end' })
  await until(() => followers.every(({ seqs }) => seqs.at(-1) === end))
  for (const { seqs } of followers) expect(seqs).toEqual(range(seqs[0]!, end))
  for (const { seqs } of followers.slice(1)) expect(seqs[0]).toBe(2)
})

it('lets go of a follower that does not read, and holds little for it meanwhile', async () => {
  const stage = await stageHub({
    beatMs: 50,
    // Long enough for one that reads beside many other tests.
    limits: { followerBytes: 65_536, followerStallMs: 3_000 },
  })
  const { port } = new URL(stage.url)
  const deaf: Socket = connect(Number(port), '127.0.0.1')
  onTestFinished(() => void deaf.destroy())
  deaf.on('error', () => {})
  deaf.pause()
  deaf.write(
    `GET /api/stream?after=0 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${stage.token}\r\n\r\n`,
  )
  await until(async () => (await stage.metric('mailbox_streams{kind="sse"}')) === 1)
  const ada = await stage.space.mailbox('ada')
  const ears = overSocket(stage, '?after=0')
  const body = 'x'.repeat(200_000)
  for (let n = 0; n < 150; n++) await ada.send({ to: 'user', subject: `${n}`, body })
  await until(async () => (await stage.metric('mailbox_stalled_followers_total')) === 1)
  expect(await stage.metric('mailbox_streams{kind="sse"}')).toBe(0)
  // It has cost the others nothing, and it can go on where it was.
  const end = await stage.space.lastSeq()
  await until(() => ears.seqs.at(-1) === end)
  expect(ears.seqs).toEqual(range(1, end))
})

it('gives 50 followers every one of 2,000 messages once, in order', async () => {
  const stage = await stageHub()
  const ada = await stage.space.mailbox('ada')
  const { seq: start } = await ada.send({ to: 'user', subject: 'start' })
  const followers = range(1, 50).map(() => overSocket(stage, `?after=${start}`))
  await until(async () => (await stage.metric('mailbox_streams{kind="websocket"}')) === 50)
  const pace = 10
  for (let batch = 0; batch < 200; batch++) {
    await Promise.all(range(1, pace).map((n) => ada.send({ to: 'user', subject: `${batch} ${n}` })))
    await letPass(pace)
  }
  const end = await stage.space.lastSeq()
  await until(() => followers.every(({ seqs }) => seqs.at(-1) === end))
  expect(end).toBe(start + 2_000)
  for (const { seqs } of followers) expect(seqs).toEqual(range(start + 1, end))
})

it('ends streams and waits when it stops, and finishes what it is answering', async () => {
  const stage = await stageHub()
  const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/api/stream`, [
    'mailbox',
    `bearer.${stage.token}`,
  ])
  const closed = new Promise<[number, string]>((resolve) =>
    socket.on('close', (code, reason) => resolve([code, reason.toString()])),
  )
  const events = overEvents(stage)
  const waiting = stage.act('user', 'wait', { type: 'handoff' })
  await until(async () => (await stage.metric('mailbox_waits')) === 1)
  await until(async () => (await stage.metric('mailbox_streams{kind="sse"}')) === 1)
  await until(async () => (await stage.metric('mailbox_streams{kind="websocket"}')) === 1)
  const sending = stage.act('user', 'send', { to: 'user', body: 'x'.repeat(1_000_000) })
  await until(async () => (await stage.metric('mailbox_http_in_flight')) > 2).catch(() => {})
  const stopped = stage.stop()
  expect(await closed).toEqual([1001, expect.stringMatching(/^stopping; resume after \d+$/)])
  await events.running
  expect(await waiting).toMatchObject({ status: 200, json: { message: null } })
  // Whether it came in before the end or not: it is done, or it is refused.
  const answer = await sending.catch((error: NodeJS.ErrnoException) => error.code)
  if (typeof answer === 'object') expect(answer.status).toBe(200)
  else expect(answer).toMatch(/ECONNRE/)
  await stopped
  const kept = await (await stage.space.mailbox('user')).sent()
  expect(kept.messages.length).toBe(typeof answer === 'object' ? 1 : 0)
})

it('goes on behind the last entry through a hub that stops and starts, with the library’s own client', async () => {
  const first = await stageHub()
  const port = Number(new URL(first.url).port)
  const { space } = first
  const ada = await space.mailbox('ada')
  const spaces = await Promise.all(
    (['sse', 'websocket'] as const).map((stream) =>
      openSpace({ url: first.url, token: first.token, stream }),
    ),
  )
  const over = new AbortController()
  const seen = spaces.map(() => [] as number[])
  const following = spaces.map(async (remote, at) => {
    for await (const { entry } of remote.follow({ after: 0, signal: over.signal })) seen[at]!.push(entry.seq)
  })
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 20; n++) await ada.send({ to: 'user', subject: `${round} ${n}` })
    if (round === 0) await first.stop()
    // What is sent while no hub is there must not be missed either.
    for (let n = 0; n < 20; n++) await ada.send({ to: 'user', subject: `${round} ${n} beside` })
    if (round === 0) await stageHub({ space, port })
  }
  const end = await space.lastSeq()
  await until(() => seen.every((seqs) => seqs.at(-1) === end))
  over.abort()
  await Promise.all(following)
  for (const seqs of seen) expect(seqs).toEqual(range(1, end))
  for (const remote of spaces) await remote.close()
})
