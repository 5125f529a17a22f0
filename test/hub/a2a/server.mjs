// An agent of another system, in a process of its own: the SDK of the protocol, and nothing of ours.
// server.mjs PORT LOG MODE. Prints its address when it listens; each message that arrives is a line of the log.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AgentCard, formatSSEEvent } from '@a2a-js/sdk'
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server'

const [port, log, mode = ''] = process.argv.slice(2)
const state = { submitted: 1, working: 2, completed: 3, failed: 4, inputRequired: 6, rejected: 7 }

const text = (value) => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
})
const executor = {
  async execute({ taskId, contextId, userMessage, task }, bus) {
    const said = userMessage.parts.map(({ content }) => content.value).join(' ')
    appendFileSync(log, `${userMessage.messageId}\n`)
    const message = (words) => ({
      ...{
        messageId: `answer-to-${userMessage.messageId}`,
        contextId,
        taskId,
        role: 2,
        parts: [text(words)],
      },
      ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    })
    const status = (now, words) => ({
      state: now,
      message: words === undefined ? undefined : message(words),
      timestamp: new Date().toISOString(),
    })
    if (said.includes('message only')) {
      bus.publish(AgentEvent.message({ ...message(`got: ${said}`), taskId: '' }))
      return bus.finished()
    }
    if (task === undefined)
      bus.publish(
        AgentEvent.task({
          ...{ id: taskId, contextId, status: status(state.submitted), artifacts: [], metadata: undefined },
          history: [userMessage],
        }),
      )
    const update = (now, words) =>
      bus.publish(
        AgentEvent.statusUpdate({ taskId, contextId, status: status(now, words), metadata: undefined }),
      )
    update(state.working)
    if (said.includes('never')) return
    if (said.includes('fail')) update(state.failed, 'out of ideas')
    else if (said.includes('reject')) update(state.rejected)
    else if (said.includes('ask')) update(state.inputRequired, 'which one?')
    else {
      const artifact = { artifactId: 'a1', name: 'answer', description: '', parts: [text(`got: ${said}`)] }
      bus.publish(
        AgentEvent.artifactUpdate({
          ...{ taskId, contextId, append: false, lastChunk: true, metadata: undefined },
          artifact: { ...artifact, metadata: undefined, extensions: [] },
        }),
      )
      update(state.completed)
    }
    bus.finished()
  },
  cancelTask: async () => {},
}

const server = createServer((request, response) => void serve(request, response))
async function serve(request, response) {
  const url = `http://127.0.0.1:${server.address().port}`
  if (request.method === 'GET') {
    if (mode === 'redirect') return response.writeHead(302, { location: `${url}/elsewhere` }).end()
    if (mode === 'loop') return response.writeHead(302, { location: `${url}${request.url}` }).end()
    if (mode === 'endless') return pipeline(Readable.from(endless()), response).catch(() => {})
    if (mode === 'huge') return response.end(`{"name":"${'x'.repeat(3_000_000)}"}`)
    if (mode === 'lie') return response.end('<html>not a card</html>')
    if (mode === 'shapes') return response.end('{"name":{},"supportedInterfaces":"all of them","skills":7}')
    if (mode === 'deep') return response.end(`{"name":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
    response.setHeader('content-type', 'application/json')
    return response.end(
      JSON.stringify(AgentCard.toJSON(card(mode === 'inward' ? 'http://169.254.169.254' : url))),
    )
  }
  let body = ''
  for await (const part of request) body += part
  const wrong = misbehave(JSON.parse(body))
  if (wrong !== undefined) {
    response.setHeader('content-type', 'application/json')
    return response.end(wrong)
  }
  const handler = new JsonRpcTransportHandler(requests)
  const answer = await handler.handle(JSON.parse(body), new ServerCallContext({ requestedVersion: '1.0' }))
  if (!(Symbol.asyncIterator in answer)) {
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify(answer))
  }
  response.setHeader('content-type', 'text/event-stream')
  for await (const event of answer) response.write(formatSSEEvent(event))
  response.end()
}
/** What an agent answers that does not keep to the protocol; undefined where it does. */
function misbehave({ id, method, params }) {
  const said = params.message?.parts.map((part) => part.text ?? part.data).join(' ') ?? ''
  const answer = (result) => JSON.stringify({ jsonrpc: '2.0', id, ...result })
  const note = () => params.message !== undefined && appendFileSync(log, `${params.message.messageId}\n`)
  if (mode === 'refuse' && said.includes('refuse')) {
    note()
    return answer({ error: { code: -32602, message: 'not like this' } })
  }
  if (mode === 'garbage' && isAway-- > 0) return 'not JSON'
  if (mode !== 'same') return undefined
  if (method !== 'SendMessage' && method !== 'GetTask') return undefined
  note()
  // One task for everybody, with an id that is too long, somebody else's context, and the words of the first twice.
  first ||= said
  const parts = [{ text: `got: ${said || first}` }]
  const artifacts = [{ artifactId: 'a', parts }]
  const task = { id: 'x'.repeat(20_000), contextId: 'of-somebody-else', artifacts }
  const status = { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() }
  return answer({ result: method === 'GetTask' ? { ...task, status } : { task: { ...task, status } } })
}
let first = ''

function* endless() {
  yield '{"name":"'
  for (;;) yield 'x'.repeat(65_536)
}
let isAway = 3

const card = (url) => ({
  ...{ name: 'Helsinki', description: 'an agent elsewhere', provider: undefined, version: '1' },
  supportedInterfaces: [{ url: `${url}/`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  ...{ securitySchemes: {}, securityRequirements: [], skills: [], signatures: [] },
  ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
})
const requests = new DefaultRequestHandler(card('http://127.0.0.1'), new InMemoryTaskStore(), executor)
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
