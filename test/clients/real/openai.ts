import type { ServerResponse } from 'node:http'
import { type Dialect, events, type ModelRequest, sendJson, type Turn, wordsIn } from './scripted-model.ts'

interface Tool {
  type?: string
  name?: string
  tools?: Tool[]
  function?: { name: string }
}

interface ResponsesRequest {
  model: string
  instructions?: string
  input: { type?: string; role?: string }[]
  tools?: Tool[]
}

interface ChatRequest {
  model: string
  stream?: boolean
  messages: { role: string; content: unknown }[]
  tools?: Tool[]
}

let count = 0

/** The Responses API, as Codex speaks it, and chat completions, as OpenCode does. */
export const openai: Dialect = {
  read(path, body) {
    if (path.endsWith('/responses')) return readResponses(body as ResponsesRequest)
    if (path.endsWith('/chat/completions')) return readChat(body as ChatRequest)
    return undefined
  },
  reply(response, body, turn, path) {
    if (turn === undefined) sendJson(response, 200, { object: 'list', data: [], models: [] })
    else if (path.endsWith('/responses')) respond(response, (body as ResponsesRequest).model, turn)
    else chat(response, body as ChatRequest, turn)
  },
}

function readResponses(body: ResponsesRequest): ModelRequest {
  const { instructions = '', input, tools = [] } = body
  return {
    text: [instructions, ...input.map((item) => `${item.role ?? item.type}: ${wordsIn(item)}`)].join('\n'),
    tools: tools.flatMap(namesOf),
    turns: input.filter(({ role, type }) => role === 'assistant' || type === 'function_call').length,
    body,
  }
}

/** Codex puts the tools of a server into a namespace, which a call has to name apart. */
const namesOf = ({ type, name, tools = [] }: Tool): string[] =>
  type === 'namespace' ? tools.map((tool) => `${name}.${tool.name}`) : [name ?? type ?? '']

function readChat(body: ChatRequest): ModelRequest {
  const { messages, tools = [] } = body
  return {
    text: messages.map(({ role, content }) => `${role}: ${wordsIn(content)}`).join('\n'),
    tools: tools.map((tool) => tool.function?.name ?? ''),
    turns: messages.filter(({ role }) => role === 'assistant').length,
    body,
  }
}

const usage = {
  ...{ input_tokens: 100, output_tokens: 20, total_tokens: 120 },
  ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
}

function respond(response: ServerResponse, model: string, { text, calls = [] }: Turn): void {
  const words =
    text === undefined
      ? []
      : [
          {
            ...{ type: 'message', role: 'assistant', id: `msg_${++count}`, status: 'completed' },
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]
  const items = [...words, ...calls.map(callItem)]
  const whole = { id: `resp_${++count}`, object: 'response', created_at: 0, model, status: 'completed' }
  const send = events(response)
  let at = 0
  const tell = (type: string, data: object) => send(type, { type, sequence_number: at++, ...data })
  tell('response.created', { response: { ...whole, status: 'in_progress', output: [] } })
  for (const [index, item] of items.entries()) {
    tell('response.output_item.added', { output_index: index, item })
    tell('response.output_item.done', { output_index: index, item })
  }
  tell('response.completed', { response: { ...whole, output: items, usage } })
  response.end()
}

function callItem({ name, input }: { name: string; input: object }) {
  const [namespace, tool] = name.includes('.') ? (name.split('.') as [string, string]) : [undefined, name]
  return {
    ...{ type: 'function_call', id: `fc_${++count}`, call_id: `call_${count}`, name: tool },
    ...(namespace === undefined ? {} : { namespace }),
    ...{ arguments: JSON.stringify(input), status: 'completed' },
  }
}

function chat(response: ServerResponse, { model, stream }: ChatRequest, { text, calls = [] }: Turn): void {
  const toolCalls = calls.map(({ name, input }, index) => ({
    ...{ index, id: `call_${++count}`, type: 'function' },
    function: { name, arguments: JSON.stringify(input) },
  }))
  const finish = calls.length > 0 ? 'tool_calls' : 'stop'
  const said = {
    role: 'assistant',
    content: text ?? '',
    ...(calls.length > 0 ? { tool_calls: toolCalls } : {}),
  }
  const base = { id: `chat_${++count}`, created: 0, model }
  const spent = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
  if (stream !== true) {
    const choices = [{ index: 0, message: said, finish_reason: finish }]
    sendJson(response, 200, { ...base, object: 'chat.completion', choices, usage: spent })
    return
  }
  const send = events(response)
  const chunk = (delta: object, reason: string | null) => ({
    ...{ ...base, object: 'chat.completion.chunk' },
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  send(undefined, chunk(said, null))
  send(undefined, { ...chunk({}, finish), usage: spent })
  response.end('data: [DONE]\n\n')
}
