import { expect, it } from 'vitest'
import { createAgentToken } from '../../src/hub/tokens.ts'
import { serveHub } from '../helpers/mcp.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import { stageMcp } from './hub.ts'
import { ask, begin, callOf } from './wire.ts'

const version = '2026-07-28'
const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

/** A client of the newer protocol that takes tasks, unless it says otherwise. */
const clientOf = (url: string, token: string, clientCapabilities: object = tasks) => ({
  // biome-ignore lint/suspicious/noExplicitAny: answers have every shape
  async request(method: string, params: Record<string, any>): Promise<any> {
    const headers = {
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': version,
      'mcp-method': method,
      'mcp-name': params['name'] ?? params['taskId'],
    }
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'Wire', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
    }
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
    const { text } = await ask(url, { headers, body }).answer
    const data = text.startsWith('{') ? text : text.split('\n').findLast((line) => line.startsWith('data: {'))
    return JSON.parse(data!.replace(/^data: /, ''))
  },
  async wait(args: object) {
    return (await this.request('tools/call', { name: 'wait', arguments: args })).result
  },
  async get(taskId: string) {
    return (await this.request('tasks/get', { taskId })).result
  },
  async ended(taskId: string) {
    return until(async () => {
      const task = await this.get(taskId)
      return task.status === 'working' ? undefined : task
    })
  },
})

async function stage() {
  const staged = await stageMcp()
  const [ada, bob] = [await staged.space.mailbox('ada'), await staged.space.mailbox('bob')]
  return { staged, ada, bob, client: clientOf(staged.mcpUrl, staged.tokenOf('bob')) }
}

it('answers a wait with a task, which ends with the mail and takes none before', async () => {
  const { ada, bob, client } = await stage()
  const task = await client.wait({ from: 'ada', seconds: 600 })
  expect(task).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: expect.any(Number) })
  expect(await client.get(task.taskId)).toMatchObject({ resultType: 'complete', status: 'working' })
  const { id } = await ada.send({ to: 'bob', body: 'WORDS' })
  expect((await bob.show(id)).receipts).toMatchObject([{ state: 'stored' }])
  const ended = await client.ended(task.taskId)
  expect(ended).toMatchObject({ taskId: task.taskId, status: 'completed' })
  expect(ended.result.content[0].text).toContain('WORDS')
  expect((await bob.show(id)).receipts).toMatchObject([{ state: 'shown' }])
  // Asking again gets the same answer.
  expect(await client.get(task.taskId)).toEqual(ended)
})

it('answers at once what needs no waiting, and refuses what cannot be waited for', async () => {
  const { ada, client } = await stage()
  await ada.send({ to: 'bob', body: 'WORDS' })
  expect(await client.wait({})).toMatchObject({
    resultType: 'complete',
    structuredContent: { messages: [{}] },
  })
  expect(await client.wait({ seconds: 0 })).toMatchObject({ resultType: 'complete' })
  expect(await client.wait({ replyTo: '00000000' })).toMatchObject({ isError: true })
})

it('waits for answers to several questions, and ends when the time is up with those that came', async () => {
  const { ada, bob, client } = await stage()
  const ids: string[] = []
  for (const body of ['one?', 'other?'])
    ids.push((await bob.send({ to: 'ada', body, awaitingResponse: true })).id)
  const wanted = { replyTo: ids.join(','), seconds: 600 }
  const [whole, short] = [await client.wait(wanted), await client.wait({ ...wanted, seconds: 2 })]
  await ada.reply(ids[0]!, { body: 'FIRST' })
  expect(await client.get(whole.taskId)).toMatchObject({ status: 'working' })
  const part = await client.ended(short.taskId)
  expect(part.result.content[0].text).toMatch(/FIRST[\s\S]*1 more did not arrive/)
  const settled = await client.wait({ settled: ids[1], seconds: 600 })
  await ada.reply(ids[1]!, { body: 'SECOND' })
  expect((await client.ended(settled.taskId)).result.structuredContent).toMatchObject({ settled: true })
})

it('leaves mail unread when a task is cancelled', async () => {
  const { ada, bob, client } = await stage()
  const { taskId } = await client.wait({ seconds: 600 })
  expect((await client.request('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' })
  await ada.send({ to: 'bob', body: 'later' })
  expect(await client.get(taskId)).toMatchObject({ status: 'cancelled' })
  expect((await bob.count()).unread).toBe(1)
})

it('has no tasks for clients that did not ask for them, and none that do not exist', async () => {
  const { staged, client } = await stage()
  const token = staged.tokenOf('cy')
  const plain = clientOf(staged.mcpUrl, token, {})
  expect(await plain.wait({ seconds: 0 })).toMatchObject({ resultType: 'complete' })
  expect((await plain.request('tasks/get', { taskId: 'x' })).error.code).toBe(-32_021)
  for (const taskId of ['x', Buffer.from('{"wanted":{"seconds":"no"}}').toString('base64url')])
    expect((await client.request('tasks/get', { taskId })).error.code).toBe(-32_602)
  const headers = await begin(staged.mcpUrl, token)
  const older = { ...callOf('', {}, false), method: 'tasks/get', params: { taskId: 'x' } }
  expect((await ask(staged.mcpUrl, { headers, body: older }).answer).text).toContain('-32601')
})

it('goes on with a task when the hub was killed', async () => {
  const dir = tempDir()
  const space = await tempSpace({ dir })
  const [ada] = [await space.mailbox('ada'), await space.mailbox('bob')]
  const token = createAgentToken(dir, 'bob')
  const first = await serveHub(dir)
  const { taskId } = await clientOf(first.mcpUrl, token).wait({ from: 'ada', seconds: 600 })
  first.running.kill('SIGKILL')
  await first.running.exit
  await ada.send({ to: 'bob', body: 'WORDS' })
  const second = await serveHub(dir)
  const ended = await clientOf(second.mcpUrl, token).ended(taskId)
  expect(ended.result.content[0].text).toContain('WORDS')
})
