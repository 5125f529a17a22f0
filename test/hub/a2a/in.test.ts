import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDisk } from '../../../src/space/open.ts'
import { clientOf, type Transport } from '../../helpers/a2a-client.ts'
import { createBox } from '../../helpers/cli.ts'
import { stageHub } from '../../helpers/hub.ts'
import { until } from '../../helpers/wait.ts'

async function stageA2a(settings: Record<string, unknown> = {}) {
  const stage = await stageHub({ open: { settings: { 'a2a.expose': 'ada, role:architect', ...settings } } })
  const ada = await stage.space.mailbox('ada', { join: { roles: ['architect'], tags: ['project:x'] } })
  const base = (address: string) => `${stage.url}/a2a/${encodeURIComponent(address)}`
  const token = stage.agentToken('acme')
  return {
    stage,
    ada,
    token,
    base,
    client: (address = 'ada', of?: Transport) => clientOf(base(address), token, of),
  }
}

const stateOf = (line: { task?: object; statusUpdate?: object }) =>
  (Object.values(line)[0] as { status: { state: string } }).status.state.replace('TASK_STATE_', '')
const textOf = (parts: { text?: string }[]) => parts.map(({ text }) => text).join('')

describe.each<Transport>(['rpc', 'rest', 'legacy'])('over %s', (transport) => {
  it('a message becomes mail, and the task goes where the mail goes', async () => {
    const { ada, client } = await stageA2a()
    const acme = client('ada', transport)
    const streaming = acme.start('stream', { messageId: 'm1', text: 'Which port?', data: { n: 1 } })
    const first = await streaming.next()
    expect(stateOf(first)).toBe('SUBMITTED')
    const { id, contextId } = first.task
    const { messages } = await ada.check()
    expect(messages[0]).toMatchObject({ id, from: 'acme', body: 'Which port?', payload: { n: 1 } })
    expect(messages[0]!.threadId).toBe(contextId)
    expect(stateOf(await streaming.next())).toBe('WORKING')
    await ada.reply(id, { body: 'For what?', awaitingResponse: true })
    const asked = await streaming.rest()
    expect(asked.map(stateOf)).toEqual(['INPUT_REQUIRED'])
    expect(textOf(asked[0].statusUpdate.status.message.parts)).toBe('For what?')

    const goingOn = acme.start('stream', { messageId: 'm2', taskId: id, text: 'For the console.' })
    expect((await goingOn.next()).task).toMatchObject({ id, contextId })
    const question = (await ada.check()).messages[0]!
    expect(question).toMatchObject({ body: 'For the console.', from: 'acme' })
    await ada.reply(question.id, { body: '7337', payload: { port: 7337 } })
    const events = await goingOn.rest()
    const artifact = events.find((event) => 'artifactUpdate' in event).artifactUpdate.artifact
    expect(textOf(artifact.parts)).toBe('7337')
    expect(artifact.parts[1]).toMatchObject({ data: { port: 7337 } })
    expect(stateOf(events.at(-1))).toBe('COMPLETED')
    const { task } = await acme.call('get', { id })
    expect(task.history).toHaveLength(4)
    expect(stateOf({ task })).toBe('COMPLETED')
  })
})

it('has cards for what the person exposes, and for nothing else', async () => {
  const { stage, base } = await stageA2a()
  const card = await stage.ask('/.well-known/agent-card.json', {
    token: null,
    headers: { 'a2a-version': '1.0' },
  })
  expect(card.json.skills.map(({ id }: { id: string }) => id)).toEqual(['ada', 'role:architect'])
  const ada = await fetch(`${base('ada')}/.well-known/agent-card.json`, { headers: { 'a2a-version': '1.0' } })
  expect(await ada.json()).toMatchObject({
    ...{ name: 'ada', capabilities: { streaming: true, pushNotifications: true } },
    skills: [{ id: 'ada', tags: ['architect', 'project:x'] }],
  })
  for (const path of ['/a2a/user/.well-known/agent-card.json', '/a2a/bob/.well-known/agent-card.json'])
    expect((await stage.ask(path, { token: null })).status).toBe(404)
  expect((await stage.ask('/a2a/ada', { token: null, body: {} })).status).toBe(401)
  expect((await stage.ask('/a2a/user', { body: {} })).status).toBe(404)
  const closed = await stageHub()
  expect((await closed.ask('/.well-known/agent-card.json', { token: null })).status).toBe(404)
  expect((await closed.ask('/a2a/ada', { body: {} })).status).toBe(404)
})

it('sends a repeated message once, waits where it is asked to, and shows a caller its own tasks only', async () => {
  const { stage, ada, token, client, base } = await stageA2a()
  const acme = client()
  const waiting = acme.start('send', { messageId: 'm1', text: 'Which port?', wait: true })
  await until(async () => (await ada.count()).unread === 1)
  const again = await acme.call('send', { messageId: 'm1', text: 'Which port?' })
  const { id } = again.task
  expect((await ada.count()).unread).toBe(1)
  await ada.done(id, { note: '7337' })
  const [answered] = await waiting.rest()
  expect(stateOf(answered)).toBe('COMPLETED')
  expect(textOf(answered.task.artifacts[0].parts)).toBe('7337')

  const other = clientOf(base('ada'), stage.agentToken('other'))
  expect((await other.call('get', { id })).error).toContain(id)
  expect(await other.call('list')).toEqual({ ids: [], totalSize: 0 })
  expect(await acme.call('list')).toEqual({ ids: [id], totalSize: 1 })
  // Mail that did not come this way is no task.
  const { id: plain } = await ada.send({ to: 'acme', body: 'x' })
  expect((await acme.call('get', { id: plain })).error).toContain(plain)
  expect((await acme.call('send', { messageId: 'm2', taskId: id, text: 'more' })).error).toContain('is over')
  expect(token).not.toBe('')
})

it('cancels what nobody has read, and says what became of the rest', async () => {
  const { ada, client } = await stageA2a()
  const acme = client('role:architect')
  const send = async (messageId: string) => (await acme.call('send', { messageId, text: messageId })).task.id
  const unread = await send('unread')
  expect(stateOf(await acme.call('cancel', { id: unread }))).toBe('CANCELED')
  const failed = await send('failed')
  await ada.check()
  expect((await acme.call('cancel', { id: failed })).error).toContain('cancelled')
  await ada.fail(failed, { reason: 'no time' })
  const { task } = await acme.call('get', { id: failed })
  expect(stateOf({ task })).toBe('FAILED')
  expect(textOf(task.status.message.parts)).toContain('no time')
  const rejected = await send('rejected')
  await ada.archive(rejected)
  expect(stateOf(await acme.call('get', { id: rejected }))).toBe('REJECTED')
})

it('posts what becomes of a task, signed, and nowhere inside unless that was named', async () => {
  const posts: { headers: Record<string, unknown>; body: string }[] = []
  const receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part))
    request.on('end', () => {
      // The first one has to be repeated.
      response.statusCode = posts.push({ headers: request.headers, body }) === 1 ? 503 : 204
      response.end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  const host = `127.0.0.1:${(receiver.address() as { port: number }).port}`
  const { ada, client } = await stageA2a({ 'a2a.allow': host })
  const acme = client()
  const { id } = (await acme.call('send', { messageId: 'm1', text: 'Which port?' })).task
  for (const url of [
    'http://127.0.0.1:9/',
    'http://[::1]/',
    'http://localhost/',
    'http://169.254.169.254/',
    'file:///x',
  ])
    expect((await acme.call('push', { id, url })).error).toBeDefined()
  expect((await acme.call('push', { id, url: `http://${host}/hook` })).id).toEqual(expect.any(String))
  await ada.reply(id, { body: '7337' })
  await until(() => posts.some(({ body }) => body.includes('TASK_STATE_COMPLETED')))
  const { headers, body } = posts.at(-1)!
  expect(JSON.parse(body).task).toMatchObject({ id, artifacts: [{ parts: [{ text: '7337' }] }] })
  expect(headers).toMatchObject({
    'x-a2a-notification-token': 'shared',
    'webhook-signature': expect.stringMatching(/^v1,/),
  })
})

it('goes on with a task when the hub was killed in the middle of it', async () => {
  const box = await createBox('ada')
  await box.ok('config', 'set', 'a2a.expose', 'ada')
  const serve = async (port: string) => {
    const hub = box.start(['serve', '--port', port, '--json'])
    await hub.says('"token"')
    return { hub, ...(JSON.parse(hub.stdout()) as { url: string }) }
  }
  const { hub, url } = await serve('0')
  const token = (await box.ok('token', 'acme')).trim()
  const acme = clientOf(`${url}/a2a/ada`, token)
  const streaming = acme.start('stream', { messageId: 'm1', text: 'Which port?' })
  const { id } = (await streaming.next()).task
  hub.process.kill('SIGKILL')
  await hub.exit
  await streaming.rest()
  {
    await using space = await openDisk({ dir: box.dir })
    await (await space.mailbox('ada')).check()
  }
  await serve(new URL(url).port)
  const resumed = acme.start('resubscribe', { id })
  expect(stateOf(await resumed.next())).toBe('WORKING')
  await box.ok('reply', id, '--as', 'ada', '--body', '7337')
  expect(stateOf((await resumed.rest()).at(-1))).toBe('COMPLETED')
  const again = await acme.call('send', { messageId: 'm1', text: 'Which port?' })
  expect(again.task.id).toBe(id)
})
