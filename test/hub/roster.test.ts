import { expect, it } from 'vitest'
import { identifyProcess } from '../../src/base/process.ts'
import { openDisk } from '../../src/space/open.ts'
import { stageHub } from '../helpers/hub.ts'
import { Sleeper } from '../helpers/sleeper.ts'

it('takes nobody who joins over HTTP for a client of this machine, whatever it says of its process', async () => {
  const stage = await stageHub()
  const client = new Sleeper()
  const seat = { client: 'claude', session: { pid: client.pid, id: 'session-1' } }
  const victim = await stage.space.joinAs(seat)
  const mallory = stage.agentToken('mallory')
  const stolen = { ...identifyProcess(client.pid), id: 'session-1', client: 'claude' }
  for (const [operation, input] of [
    ['join', { session: stolen }],
    ['open', { join: { session: stolen } }],
  ] as const) {
    expect(await stage.act('mallory', operation, input, { token: mallory })).toMatchObject({ status: 200 })
    expect((await stage.space.joinAs(seat)).name).toBe(victim.name)
    // Also when the client of this machine has gone for a moment.
    await stage.space.endRun(victim.name, { frozen: true })
    expect((await stage.space.joinAs(seat)).name).toBe(victim.name)
  }
  await stage.space.leave(victim.name)
  await stage.act('mallory', 'leave', { frozen: true }, { token: mallory })
  // As the hub's MCP does it: with a client's name, and nothing else.
  await stage.space.mailboxOfRun('mallory', { join: { session: { client: 'claude' } } })
  await stage.act('mallory', 'leave', { frozen: true }, { token: mallory })
  expect((await stage.space.joinAs(seat)).name).not.toBe('mallory')
  await client.kill()
})

it('shows an agent no sessions but its own, and the webhook to nobody', async () => {
  const secret = 'https://name:word@hooks.example.org/T0/secret?key=1'
  const stage = await stageHub({ open: { settings: { webhook: secret } } })
  await stage.space.join('ada', { session: { pid: process.pid, id: 'ada-1' } })
  const token = stage.agentToken('bob')
  await stage.act('bob', 'join', { session: { id: 'bob-1' } }, { token })
  const seen = async (of?: string) =>
    Object.fromEntries(
      (await stage.ask('/api/agents', of === undefined ? {} : { token: of })).json.agents.map(
        ({ name, session }: { name: string; session: { id?: string; pid?: number } }) => [
          name,
          [session.id, session.pid],
        ],
      ),
    )
  const none = [undefined, undefined]
  expect(await seen(token)).toMatchObject({ ada: none, bob: ['remote:bob-1', undefined] })
  expect(await seen()).toMatchObject({ ada: ['ada-1', process.pid] })
  for (const given of [{}, { token }]) {
    const { json, text } = await stage.ask('/api/space', given)
    expect(json.settings.webhook).toBe('https://hooks.example.org/…')
    expect(text).not.toMatch(/secret|word@/)
  }
})

it('lets an agent have a role that the person gave it a moment ago in another process', async () => {
  const stage = await stageHub({ open: { settings: { rules: 'hub' } } })
  await using other = await openDisk({ dir: stage.space.dir, settings: { rules: 'hub' } })
  await other.join('ada', { roles: ['lead'] })
  const token = stage.agentToken('ada')
  expect(await stage.act('ada', 'join', { roles: ['lead'] }, { token })).toMatchObject({ status: 200 })
  expect(
    await stage.act('bob', 'join', { roles: ['lead'] }, { token: stage.agentToken('bob') }),
  ).toMatchObject({
    status: 403,
  })
})
