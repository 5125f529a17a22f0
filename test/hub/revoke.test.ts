import { rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { rotatePersonToken } from '../../src/hub/person-token.ts'
import { readUses } from '../../src/hub/token-use.ts'
import { createAgentToken, revokeAgentToken } from '../../src/hub/tokens.ts'
import { type Stage, stageHub } from '../helpers/hub.ts'
import { until } from '../helpers/wait.ts'

/** Never: what happens at once needs no heartbeat. */
const beatMs = 100_000_000

/** A wait for mail over HTTP, and what it is answered. */
function waitFor(stage: Stage, token: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${stage.url}/api/mailboxes/bob/wait`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      let text = ''
      response.on('data', (part: Buffer) => (text += part.toString()))
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    outgoing.end('{}')
  })
}

it('cuts streams and waits at once, and gives nothing more to a token that is revoked', async () => {
  const stage = await stageHub({ beatMs })
  const bob = await stage.space.mailbox('bob')
  const ada = await stage.space.mailbox('ada')
  const token = stage.agentToken('bob')
  const waiting = waitFor(stage, token)
  const stream = await fetch(`${stage.url}/api/stream`, { headers: { authorization: `Bearer ${token}` } })
  const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/api/stream`, [
    'mailbox',
    `bearer.${token}`,
  ])
  let pushed = ''
  socket.on('message', (data: Buffer) => (pushed += data.toString()))
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await new Promise((resolve) => socket.on('open', resolve))
  await until(async () => (await stage.metric('mailbox_waits')) === 1)
  revokeAgentToken(stage.space.dir, 'bob')
  // It is written before the hub can have heard of the revocation.
  const { id } = await ada.send({ to: 'bob', subject: 'too late' })
  expect(await waiting).toMatchObject({ status: 401, text: expect.not.stringContaining('too late') })
  expect(await closed).toBe(1008)
  expect(pushed).not.toContain('too late')
  const text = await stream.text()
  expect(text).toContain(': revoked at ')
  expect(text).not.toContain('too late')
  expect((await bob.inbox({ unread: true })).messages.map((one) => one.id)).toEqual([id])
})

it('cuts them without any mail as well', async () => {
  const stage = await stageHub({ beatMs })
  await stage.space.join('bob')
  const token = stage.agentToken('bob')
  const waiting = waitFor(stage, token)
  const stream = await fetch(`${stage.url}/api/stream`, { headers: { authorization: `Bearer ${token}` } })
  await until(async () => (await stage.metric('mailbox_waits')) === 1)
  // A new token revokes the old one.
  createAgentToken(stage.space.dir, 'bob')
  expect((await waiting).status).toBe(401)
  expect(await stream.text()).toContain(': revoked at ')
})

it("ends the person's token when it is replaced, and when its file is deleted", async () => {
  const stage = await stageHub({ beatMs })
  const follow = async (token: string) =>
    (await fetch(`${stage.url}/api/stream`, { headers: { authorization: `Bearer ${token}` } })).text()
  const first = follow(stage.token)
  const console = { token: stage.hub.consoleToken }
  await until(async () =>
    (await stage.ask('/metrics', console)).text.includes('mailbox_streams{kind="sse"} 1'),
  )
  const second = rotatePersonToken(stage.space.dir)
  expect(await first).toContain(': revoked at ')
  expect((await stage.ask('/api/space')).status).toBe(401)
  expect((await stage.ask('/api/space', { token: second })).status).toBe(200)
  const following = follow(second)
  await until(async () =>
    (await stage.ask('/metrics', console)).text.includes('mailbox_streams{kind="sse"} 1'),
  )
  rmSync(join(stage.space.dir, 'hub', 'token'))
  expect(await following).toContain(': revoked at ')
  expect((await stage.ask('/api/space', { token: second })).status).toBe(401)
  // The console of this run goes on.
  expect((await stage.ask('/api/space', console)).json.you).toBe('user')
})

it('remembers when tokens were used, and what was refused', async () => {
  const stage = await stageHub()
  await stage.space.join('ada')
  const token = stage.agentToken('ada')
  await stage.act('ada', 'count', {}, { token })
  await stage.act('bob', 'check', {}, { token })
  await stage.ask('/api/stats', { token })
  await stage.ask('/api/stats', { token: 'mbx_guessed' })
  await stage.stop()
  const { tokens, unknown } = readUses(stage.space.dir)
  expect(tokens.get('ada')).toEqual({ lastUsedAt: expect.any(String), refused: 2 })
  expect(unknown).toBe(1)
})
