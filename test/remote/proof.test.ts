import { chmodSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { hubCertificate, withFingerprint } from '../../src/hub/certificate.ts'
import type { HubOptions } from '../../src/remote/connection.ts'
import { openSpace } from '../../src/space/open.ts'
import { stageHub } from '../helpers/hub.ts'
import { tempDir } from '../helpers/temp.ts'

async function openRemote(options: HubOptions) {
  const space = await openSpace(options)
  onTestFinished(() => space.close())
  return space
}

/** Works through a whole conversation, with a wait and a stream. */
async function converse(options: HubOptions, ada: { send(input: object): Promise<{ id: string }> }) {
  const space = await openRemote(options)
  const bob = await space.mailbox('bob')
  const waiting = bob.wait({ timeoutMs: 60_000 })
  const { id } = await ada.send({ to: 'bob', subject: 'Grüße', body: 'x'.repeat(200_000) })
  expect(await waiting).toMatchObject({ id, body: 'x'.repeat(200_000) })
  await bob.reply(id, { body: 'back' })
  for await (const { entry } of space.follow({ after: 0 }))
    if (entry.kind === 'message' && entry.message.body === 'back') break
  await expect(bob.read('no-such-message')).rejects.toMatchObject({ code: 'not_found' })
}

it.each(['sse', 'websocket'] as const)(
  'speaks TLS with a certificate that the token vouches for, over %s',
  async (stream) => {
    const stage = await stageHub({ tls: true })
    expect(stage.url).toMatch(/^https:/)
    const file = join(stage.space.dir, 'hub', 'tls.pem')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const { fingerprint } = stage.hub
    const token = withFingerprint(stage.agentToken('bob'), fingerprint)
    await converse({ url: stage.url, token, stream }, await stage.space.mailbox('ada'))
    // Nobody vouches for it without that.
    await expect(
      openSpace({ url: stage.url, token: stage.agentToken('bob'), retryForMs: 0 }),
    ).rejects.toMatchObject({ code: 'unreachable' })
    // The next start has the same one.
    await stage.stop()
    expect((await stageHub({ space: stage.space, tls: true })).hub.fingerprint).toBe(fingerprint)
  },
)

it('sends its token to no other server than the one it is for', async () => {
  const stage = await stageHub({ tls: true })
  const token = withFingerprint(stage.agentToken('bob'), stage.hub.fingerprint)
  let heard = ''
  const answer = JSON.stringify({ id: 'x', settings: {}, you: 'bob', at: new Date().toISOString() })
  const { key, cert } = hubCertificate(tempDir())
  const other = createTlsServer({ key, cert }, (incoming, response) => {
    heard += JSON.stringify(incoming.headers)
    response.end(answer)
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  const url = `https://127.0.0.1:${(other.address() as AddressInfo).port}`
  for (const stream of ['sse', 'websocket'] as const)
    await expect(openSpace({ url, token, stream })).rejects.toMatchObject({
      code: 'not_permitted',
      message: 'this is not the hub that the token is for',
    })
  // One without TLS gets nothing either.
  const plain = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (data) => (heard += data.toString('latin1')))
  })
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void plain.close())
  const { port } = plain.address() as AddressInfo
  await expect(openSpace({ url: `http://127.0.0.1:${port}`, token })).rejects.toMatchObject({
    ...{ code: 'invalid', hint: expect.stringContaining('https://') },
  })
  expect(heard).not.toContain('mbx_')
})

it('takes a token with the fingerprint in it from any client', async () => {
  const stage = await stageHub()
  const token = withFingerprint(stage.agentToken('ada'), 'fingerprint')
  expect((await stage.ask('/api/space', { token })).json.you).toBe('ada')
})

it.each(['sse', 'websocket'] as const)(
  'serves programs of this machine on a socket of the space, over %s',
  async (stream) => {
    const stage = await stageHub()
    const socket = join(stage.space.dir, 'hub', 'socket')
    expect(stage.hub.socket).toBe(socket)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    const url = `unix:${socket}`
    await converse({ url, token: stage.agentToken('bob'), stream }, await stage.space.mailbox('ada'))
    await expect(openSpace({ url, token: 'mbx_guessed' })).rejects.toMatchObject({ code: 'not_permitted' })
    await expect(openSpace({ url: `${url}s`, token: 'x', retryForMs: 0 })).rejects.toMatchObject({
      code: 'unreachable',
    })
    // A page has no way to it, so nothing that comes over it is from one.
    const status = await new Promise((resolve) =>
      request(
        { socketPath: socket, path: '/health', headers: { origin: 'https://evil.example' } },
        ({ statusCode }) => resolve(statusCode),
      ).end(),
    )
    expect(status).toBe(403)
    await stage.stop()
    expect(statSync(socket, { throwIfNoEntry: false })).toBeUndefined()
  },
)

it('leaves the socket to the hub that has it, and does without where the path is too long', async () => {
  const stage = await stageHub()
  const second = await stageHub({ space: stage.space })
  expect([stage.hub.socket, second.hub.socket]).toEqual([expect.any(String), undefined])
  await second.stop()
  await expect(openRemote({ url: `unix:${stage.hub.socket!}`, token: stage.token })).resolves.toBeDefined()
  await stage.stop()

  const long = join(tempDir(), 'x'.repeat(120))
  const far = await stageHub({ open: { dir: long } })
  expect(far.hub.socket).toBeUndefined()
  expect((await far.ask('/health')).status).toBe(200)
})

it('keeps its certificate to itself', async () => {
  const stage = await stageHub({ tls: true })
  const file = join(stage.space.dir, 'hub', 'tls.pem')
  await stage.stop()
  expect(readFileSync(file, 'utf8')).toContain('PRIVATE KEY')
  chmodSync(file, 0o644)
  await expect(stageHub({ space: stage.space, tls: true })).rejects.toMatchObject({ code: 'not_permitted' })
})
