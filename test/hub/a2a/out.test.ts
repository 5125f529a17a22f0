import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openDisk } from '../../../src/space/open.ts'
import { createBox } from '../../helpers/cli.ts'
import { stageHub } from '../../helpers/hub.ts'
import { inStorm } from '../../helpers/storm.ts'
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
  const serve = async () => {
    const space = await openDisk({ dir: box.dir, settings: { durability: 'os' } })
    onTestFinished(() => space.close())
    await stageHub({ space, lookMs: 50 })
    return { space, bob: await space.mailbox('bob') }
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

it.each([
  ['redirect', /redirects elsewhere/],
  ['huge', /larger than/],
  ['inward', /private address/],
  ['lie', /is not the card of an agent/],
])('refuses a card that does this: %s', async (mode, reason) => {
  const { box, join: joins } = await stageOut(mode)
  const { code, stderr } = await joins()
  expect(code).not.toBe(0)
  expect(stderr).toMatch(reason)
  expect((await box.json('agents')).agents.map(({ name }) => name)).not.toContain('helsinki')
})

it('loses nothing and sends nothing twice when the hub is killed', async () => {
  const { box, remote, join: joins } = await stageOut()
  expect((await joins()).code).toBe(0)
  const ids: string[] = []
  for (let round = 0; round < inStorm(100, 3); round++) {
    const hub = box.start(['serve', '--port', '0', '--json'])
    await hub.says('"token"')
    const { message } = await box.json('send', 'helsinki', '--as', 'bob', '--body', `n${round}`, '--await')
    ids.push(message.id)
    // Around the moment at which it arrives over there.
    if (round % 2 === 0) await until(() => remote.received().includes(message.id))
    hub.process.kill('SIGKILL')
    await hub.exit
  }
  box.start(['serve', '--port', '0', '--json'])
  const answers = async () => {
    const { messages } = await box.json('inbox', '--as', 'bob', '--all', '--limit', '500')
    return messages.map(({ replyTo }) => replyTo)
  }
  await until(async () => (await answers()).length >= ids.length)
  expect((await answers()).sort()).toEqual([...ids].sort())
  expect(remote.received().sort()).toEqual([...ids].sort())
})
