import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openDisk } from '../../../src/space/open.ts'
import { createBox } from '../../helpers/cli.ts'
import { stageHub } from '../../helpers/hub.ts'
import { Campaign, campaignSize } from '../../helpers/storm.ts'
import { until } from '../../helpers/wait.ts'

const program = fileURLToPath(new URL('./server.mjs', import.meta.url))

/** An agent of another system, which can go and come back at the same address. */
async function stageRemote(log: string, mode = '') {
  const start = async (port: string): Promise<{ child: ChildProcess; url: string }> => {
    const child = spawn(process.execPath, [program, port, log, mode], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const { value: url = '' } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
    return { child, url }
  }
  let now = await start('0')
  return {
    card: `${now.url}/.well-known/agent-card.json`,
    stop: () => void now.child.kill('SIGKILL'),
    back: async () => {
      now = await start(new URL(now.url).port)
    },
    received: () => readFileSync(log, 'utf8').split('\n').filter(Boolean),
  }
}

async function stageOut(mode = '') {
  const box = await createBox('bob')
  const log = join(dirname(box.dir), 'received')
  writeFileSync(log, '')
  const remote = await stageRemote(log, mode)
  const join_ = () => box.run(['join', 'helsinki', '--role', 'abroad', '--a2a', remote.card])
  const serve = async (lookMs = 50) => {
    const space = await openDisk({ dir: box.dir, settings: { durability: 'os' } })
    onTestFinished(() => space.close())
    const { lines } = await stageHub({ space, lookMs })
    return { space, lines, bob: await space.mailbox('bob') }
  }
  return { box, remote, join: join_, serve }
}

it('brings mail to an agent of another system, and its answers back as mail', async () => {
  const { remote, join: joins, serve } = await stageOut()
  const joined = await joins()
  expect(joined, joined.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('helsinki') })
  const { space, bob } = await serve()
  expect((await space.agents()).find(({ name }) => name === 'helsinki')).toMatchObject({
    ...{ state: 'alive', roles: ['abroad'], session: { client: 'a2a' } },
  })
  const { id } = await bob.send({
    to: 'helsinki',
    subject: 'Weather',
    body: 'Is it cold?',
    awaitingResponse: true,
  })
  const answer = await bob.wait({ replyTo: id, timeoutMs: 60_000 })
  expect(answer).toMatchObject({ from: 'helsinki', body: 'got: Weather\n\nIs it cold?' })
  const steps = (await bob.show(id)).receipts[0]!.steps.map(({ state }) => state)
  expect(steps).toEqual(expect.arrayContaining(['stored', 'notified', 'completed']))

  // A question comes back, and its answer goes to the same task.
  const asking = await bob.send({ to: 'helsinki', body: 'ask me', awaitingResponse: true })
  const question = await bob.wait({ replyTo: asking.id, timeoutMs: 60_000 })
  expect(question).toMatchObject({ body: 'which one?', awaitingResponse: true })
  const reply = await bob.reply(question!.id, { body: 'the second', awaitingResponse: true })
  expect(await bob.wait({ replyTo: reply.id, timeoutMs: 60_000 })).toMatchObject({
    body: 'got: the second',
  })

  // Without a task, by a message alone.
  const plain = await bob.send({ to: 'role:abroad', body: 'message only', awaitingResponse: true })
  expect(await bob.wait({ replyTo: plain.id, timeoutMs: 60_000 })).toMatchObject({ from: 'helsinki' })

  const failing = await bob.send({ to: 'helsinki', body: 'fail', awaitingResponse: true })
  await until(async () => (await bob.show(failing.id)).receipts[0]!.state === 'failed')
  expect((await bob.show(failing.id)).receipts[0]!.steps.at(-1)).toMatchObject({
    note: 'out of ideas',
    by: 'helsinki',
  })
  const silent = await bob.send({ to: 'helsinki', body: 'never', awaitingResponse: true })
  await until(async () => (await bob.show(silent.id)).receipts[0]!.state === 'processing')
  expect(new Set(remote.received()).size).toBe(remote.received().length)
})

it('keeps mail for an agent that is away, and sends it once when it is back', async () => {
  const { remote, join: joins, serve } = await stageOut()
  expect((await joins()).code).toBe(0)
  remote.stop()
  const { space, bob } = await serve()
  const { id } = await bob.send({ to: 'helsinki', body: 'hello', awaitingResponse: true })
  const note = async () => (await space.agents()).find(({ name }) => name === 'helsinki')?.note ?? ''
  await until(async () => (await note()).startsWith('A2A: '))
  expect((await bob.show(id)).receipts[0]!.state).toBe('stored')
  await remote.back()
  expect(await bob.wait({ replyTo: id, timeoutMs: 60_000 })).toMatchObject({ body: 'got: hello' })
  await until(async () => (await note()) === '')
  expect(remote.received()).toEqual([id])
  // One that has forgotten its tasks is told of, and the mail is not left hanging.
  const late = await bob.send({ to: 'helsinki', body: 'never', awaitingResponse: true })
  await until(async () => (await bob.show(late.id)).receipts[0]!.state === 'processing')
  remote.stop()
  await remote.back()
  await until(async () => (await bob.show(late.id)).receipts[0]!.state === 'failed')
})

it('tries again through ten minutes of absence, less and less often, and then delivers everything once', async () => {
  const { remote, join: joins, serve } = await stageOut()
  expect((await joins()).code).toBe(0)
  remote.stop()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { bob, lines } = await serve(1_000)
  /** Lets time pass by the second, and everybody do what they have to do in it. */
  const pass = async (seconds: number, isOver: () => Promise<boolean> = async () => false) => {
    for (let second = 0; second < seconds && !(await isOver()); second++) {
      await vi.advanceTimersByTimeAsync(1_000)
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    }
  }
  const ids: string[] = []
  for (let n = 0; n < 5; n++)
    ids.push((await bob.send({ to: 'helsinki', body: `n${n}`, awaitingResponse: true })).id)
  await pass(600)
  const tries = lines.filter(({ event, agent }) => event === 'a2a' && agent === 'helsinki').length
  // After 1, 2, 4, 8, 16 and 32 seconds, and every minute from then on.
  expect(tries).toBeGreaterThanOrEqual(10)
  expect(tries).toBeLessThanOrEqual(18)
  for (const id of ids) expect((await bob.show(id)).receipts[0]!.state).toBe('stored')
  await remote.back()
  const answers = async () => (await bob.inbox({ all: true })).messages.map(({ replyTo }) => replyTo)
  await pass(180, async () => (await answers()).length >= ids.length)
  expect((await answers()).sort()).toEqual([...ids].sort())
  expect(remote.received().sort()).toEqual([...ids].sort())
})

it.each([
  ['redirect', /redirects elsewhere/],
  ['loop', /redirects elsewhere/],
  ['huge', /larger than/],
  ['endless', /larger than/],
  ['inward', /private address/],
  ['lie', /is not the card of an agent/],
  ['shapes', /is not the card of an agent/],
  ['deep', /is not the card of an agent/],
])('refuses a card that does this: %s', async (mode, reason) => {
  const { box, join: joins } = await stageOut(mode)
  const { code, stderr } = await joins()
  expect(code).not.toBe(0)
  expect(stderr).toMatch(reason)
  expect((await box.json('agents')).agents.map(({ name }) => name)).not.toContain('helsinki')
})

it('keeps the answers of an agent apart that gives all tasks one id, and lets it speak for nobody else', async () => {
  const { remote, join: joins, serve } = await stageOut('same')
  expect((await joins()).code).toBe(0)
  const { space, bob } = await serve()
  const cy = await space.mailbox('cy')
  const asked = []
  for (const mailbox of [bob, cy, bob])
    asked.push({
      mailbox,
      ...(await mailbox.send({ to: 'helsinki', body: `n${asked.length}`, awaitingResponse: true })),
    })
  for (const { mailbox, id } of asked) await mailbox.wait({ replyTo: id, timeoutMs: 60_000 })
  for (const { mailbox, id, threadId } of asked) {
    const [, ...answers] = await mailbox.thread(id)
    expect(answers).toMatchObject([{ from: 'helsinki', to: [mailbox.name], threadId }])
    expect((await mailbox.show(id)).receipts[0]!.state).toBe('archived')
  }
  expect(remote.received()).toHaveLength(asked.length)
})

it('goes on with other mail while one message is refused, which then has failed with the reason', async () => {
  const { remote, join: joins, serve } = await stageOut('refuse')
  expect((await joins()).code).toBe(0)
  const { bob } = await serve()
  const refused = await bob.send({
    to: 'helsinki',
    body: 'refuse',
    awaitingResponse: true,
    priority: 'urgent',
  })
  const other = await bob.send({ to: 'helsinki', body: 'hello', awaitingResponse: true })
  expect(await bob.wait({ replyTo: other.id, timeoutMs: 60_000 })).toMatchObject({ body: 'got: hello' })
  await until(async () => (await bob.show(refused.id)).receipts[0]!.state === 'failed')
  expect((await bob.show(refused.id)).receipts[0]!.steps.at(-1)).toMatchObject({
    ...{ by: 'helsinki', note: expect.stringContaining('not like this') },
  })
  expect(remote.received().filter((id) => id === refused.id).length).toBeGreaterThan(1)
})

it('sends nothing elsewhere that is encrypted for its recipients, and says so', async () => {
  const { remote, join: joins, serve } = await stageOut()
  expect((await joins()).code).toBe(0)
  const { bob } = await serve()
  const secret = await bob.send({ to: 'helsinki', body: 'quagga', awaitingResponse: true, encrypt: true })
  await until(async () => (await bob.show(secret.id)).receipts[0]!.state === 'failed')
  expect((await bob.show(secret.id)).receipts[0]!.steps.at(-1)!.note).toContain('encrypted')
  const plain = await bob.send({ to: 'helsinki', body: 'hello', awaitingResponse: true })
  expect(await bob.wait({ replyTo: plain.id, timeoutMs: 60_000 })).toMatchObject({ body: 'got: hello' })
  expect(remote.received()).toEqual([plain.id])
})

it('tries again while the answers of an agent are no answers, and says so in the roster', async () => {
  const { join: joins, serve } = await stageOut('garbage')
  expect((await joins()).code).toBe(0)
  const { space, bob } = await serve()
  const { id } = await bob.send({ to: 'helsinki', body: 'hello', awaitingResponse: true })
  const note = async () => (await space.agents()).find(({ name }) => name === 'helsinki')?.note ?? ''
  await until(async () => (await note()).startsWith('A2A: '))
  expect(await bob.wait({ replyTo: id, timeoutMs: 60_000 })).toMatchObject({ body: 'got: hello' })
  await until(async () => (await note()) === '')
})

const kills = campaignSize('a2a', 500, 3)

it('loses nothing and sends nothing twice when the hub is killed', {
  timeout: 180_000 + kills * 10_000,
}, async () => {
  const { box, remote, join: joins } = await stageOut()
  expect((await joins()).code).toBe(0)
  const space = await openDisk({ dir: box.dir, settings: { durability: 'os' } })
  onTestFinished(() => space.close())
  const bob = await space.mailbox('bob')
  const stateOf = async (id: string) => (await bob.show(id)).receipts[0]!.state
  const serve = async () => {
    const hub = box.start(['serve', '--port', '0', '--json'])
    await hub.says('"token"')
    return hub
  }
  const campaign = new Campaign('a2a', kills)
  const found: Record<string, number> = {}
  const ids: string[] = []
  let hub = await serve()
  while (ids.length < kills) {
    const { id } = await bob.send({ to: 'helsinki', body: `n${ids.length}`, awaitingResponse: true })
    ids.push(id)
    // As soon as it is stored, when it arrives over there, and when that is known here.
    if (ids.length % 3 === 1) await until(() => remote.received().includes(id))
    if (ids.length % 3 === 2) await until(async () => (await stateOf(id)) !== 'stored')
    hub.process.kill('SIGKILL')
    await hub.exit
    const arrived = remote.received().includes(id)
    const when = arrived ? `of them with a message there and ${await stateOf(id)} here` : 'before it arrived'
    found[when] = (found[when] ?? 0) + 1
    hub = await serve()
    campaign.progress(ids.length, found)
  }
  await until(async () => (await bob.awaited()).length === 0)
  const answered: string[] = []
  for (const id of ids) {
    const [, ...answers] = await bob.thread(id)
    answered.push(...answers.map(({ replyTo }) => replyTo!))
  }
  const received = remote.received()
  const missing = ids.filter((id) => !answered.includes(id) || !received.includes(id))
  const doubled = received.length - new Set(received).size + answered.length - new Set(answered).size
  campaign.end({
    ...{ 'kills of the hub': kills, ...found },
    ...{ 'messages answered': answered.length, lost: missing.length, doubled },
  })
  expect({ missing, doubled }).toEqual({ missing: [], doubled: 0 })
})
