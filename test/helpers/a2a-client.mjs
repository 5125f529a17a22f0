// A client of another system, in a process of its own: the SDK of the protocol, and nothing of ours.
// a2a-client.mjs BASE TRANSPORT VERB JSON, with TOKEN in the environment. Prints each answer and event as a line.

import { StreamResponse, Task } from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'

const [base, transport, verb, json = '{}'] = process.argv.slice(2)
const params = JSON.parse(json)
const legacyCompat = { enabled: true }
const withToken = (url, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${process.env.TOKEN}`)
  return fetch(url, { ...init, headers })
}
const isLegacy = transport === 'legacy'
const options = { fetchImpl: withToken, legacyCompat }
const factory = new ClientFactory({
  transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
  preferredTransports: [transport === 'rest' ? 'HTTP+JSON' : 'JSONRPC'],
  cardResolver: new DefaultAgentCardResolver({ fetchImpl: fetch, legacyCompat }),
})
const card = await new DefaultAgentCardResolver({ fetchImpl: fetch, legacyCompat }).resolve(`${base}/`)
if (isLegacy)
  card.supportedInterfaces = card.supportedInterfaces.filter((one) => one.protocolVersion === '0.3')
const client = await factory.createFromAgentCard(card)

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const printTask = (task) => print({ task: Task.toJSON(task) })
const printAll = async (events) => {
  for await (const event of events) print(StreamResponse.toJSON(event))
}
const message = ({ messageId, text, data, taskId = '', contextId = '' }) => ({
  ...{ messageId, contextId, taskId, role: 1, metadata: undefined, extensions: [], referenceTaskIds: [] },
  parts: [
    ...(text === undefined ? [] : [{ content: { $case: 'text', value: text } }]),
    ...(data === undefined ? [] : [{ content: { $case: 'data', value: data } }]),
  ].map((part) => ({ metadata: undefined, filename: '', mediaType: '', ...part })),
})
const request = () => ({
  ...{ tenant: '', message: message(params), metadata: undefined },
  configuration: {
    ...{ acceptedOutputModes: [], taskPushNotificationConfig: undefined, historyLength: undefined },
    returnImmediately: params.wait !== true,
  },
})
const verbs = {
  card: async () => print(card),
  send: async () => printTask(await client.sendMessage(request())),
  stream: () => printAll(client.sendMessageStream(request())),
  resubscribe: () => printAll(client.resubscribeTask({ tenant: '', id: params.id })),
  get: async () => printTask(await client.getTask({ tenant: '', id: params.id })),
  cancel: async () => printTask(await client.cancelTask({ tenant: '', id: params.id, metadata: {} })),
  async list() {
    const all = { tenant: '', contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined }
    const { tasks, totalSize } = await client.listTasks({ ...all, ...params })
    print({ ids: tasks.map(({ id }) => id), totalSize })
  },
  async push() {
    const config = { tenant: '', id: '', token: 'shared', authentication: undefined }
    print(await client.createTaskPushNotificationConfig({ ...config, taskId: params.id, url: params.url }))
  },
}
try {
  await verbs[verb]()
} catch (error) {
  print({ error: error.message, name: error.constructor.name })
}
