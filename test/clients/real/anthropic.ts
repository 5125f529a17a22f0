import type { ServerResponse } from 'node:http'
import { type Dialect, events, sendJson, type Turn, wordsIn } from './scripted-model.ts'

interface MessagesRequest {
  model: string
  stream?: boolean
  system?: unknown
  messages: { role: string; content: unknown }[]
  tools?: { name: string }[]
}

let count = 0

/** The Messages API, as Claude Code and its SDK speak it. */
export const anthropic: Dialect = {
  read(path, body) {
    if (!path.endsWith('/messages')) return undefined
    const { system, messages, tools = [] } = body as MessagesRequest
    return {
      text: [wordsIn(system), ...messages.map(({ role, content }) => `${role}: ${wordsIn(content)}`)].join(
        '\n',
      ),
      tools: tools.map(({ name }) => name),
      turns: messages.filter(({ role }) => role === 'assistant').length,
      body,
    }
  },
  reply(response, body, turn, path) {
    if (path.endsWith('/count_tokens')) return sendJson(response, 200, { input_tokens: 1_000 })
    if (turn === undefined) return sendJson(response, 200, { data: [], has_more: false })
    const { model, stream } = body as MessagesRequest
    if (stream === true) speak(response, model, turn)
    else sendJson(response, 200, { ...whole(model, turn), content: blocksOf(turn) })
  },
}

const usage = { input_tokens: 100, output_tokens: 20 }

function whole(model: string, { calls = [] }: Turn) {
  const stopReason = calls.length > 0 ? 'tool_use' : 'end_turn'
  return {
    ...{ id: `msg_${++count}`, type: 'message', role: 'assistant', model, usage },
    ...{ stop_reason: stopReason, stop_sequence: null },
  }
}

const blocksOf = ({ text, calls = [] }: Turn) => [
  ...(text === undefined ? [] : [{ type: 'text', text }]),
  ...calls.map(({ name, input }) => ({ type: 'tool_use', id: `toolu_${++count}`, name, input })),
]

function speak(response: ServerResponse, model: string, turn: Turn): void {
  const send = events(response)
  const tell = (type: string, data: object) => send(type, { type, ...data })
  const message = whole(model, turn)
  tell('message_start', { message: { ...message, content: [], stop_reason: null } })
  for (const [index, block] of blocksOf(turn).entries()) {
    const isText = 'text' in block
    const empty = isText ? { ...block, text: '' } : { ...block, input: {} }
    tell('content_block_start', { index, content_block: empty })
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify((block as { input: unknown }).input) }
    tell('content_block_delta', { index, delta })
    tell('content_block_stop', { index })
  }
  tell('message_delta', { delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage })
  tell('message_stop', {})
  response.end()
}
