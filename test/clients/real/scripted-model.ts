import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'

/** What a client sent to its model, whatever the protocol. */
export interface ModelRequest {
  /** Everything in it that a model would read, in order. */
  text: string
  /** Names of the tools on offer. */
  tools: string[]
  /** How often the model has spoken in this conversation so far. */
  turns: number
  body: unknown
}

/** What the model says: words, then calls of tools. */
export interface Turn {
  text?: string
  calls?: { name: string; input: Record<string, unknown> }[]
}

export type Script = (request: ModelRequest) => Turn | Promise<Turn>

export interface ScriptedModel {
  url: string
  requests: ModelRequest[]
  /** The first request, past or future, whose text holds this. */
  until(words: string): Promise<ModelRequest>
}

/** How one protocol is read and spoken. */
export interface Dialect {
  /** Undefined when the request is not one for words, and `reply` alone knows what to say. */
  read(path: string, body: unknown): ModelRequest | undefined
  reply(response: ServerResponse, body: unknown, turn: Turn | undefined, path: string): void
}

/** A model on loopback that says what the script tells it. */
export async function scriptedModel(dialect: Dialect, script: Script): Promise<ScriptedModel> {
  const requests: ModelRequest[] = []
  const waiting = new Set<() => void>()
  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: String(error) } }))
    })
  })
  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(incoming.url ?? '/', 'http://localhost').pathname
    const body = await bodyOf(incoming)
    const request = incoming.method === 'POST' ? dialect.read(path, body) : undefined
    if (request !== undefined) requests.push(request)
    for (const look of [...waiting]) look()
    const turn = request === undefined ? undefined : await script(request)
    dialect.reply(response, body, turn, path)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    until: (words) =>
      new Promise((resolve) => {
        const look = () => {
          const found = requests.find(({ text }) => text.includes(words))
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const raw = Buffer.concat(chunks)
  const encoding = incoming.headers['content-encoding']
  const plain = encoding === 'gzip' ? gunzipSync(raw) : encoding === 'br' ? brotliDecompressSync(raw) : raw
  return plain.length === 0 ? undefined : JSON.parse(plain.toString('utf8'))
}

export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** Begins a stream of events and gives the function that sends one. */
export function events(response: ServerResponse): (type: string | undefined, data: unknown) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  return (type, data) =>
    void response.write(`${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`)
}

/** All words in a piece of a conversation, whatever it is made of. */
export function wordsIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(wordsIn).join('\n')
  if (value === null || typeof value !== 'object') return ''
  const { text, content, output, input, parts, response } = value as Record<string, unknown>
  return [text, content, output, parts, response, typeof input === 'object' ? JSON.stringify(input) : '']
    .map(wordsIn)
    .filter(Boolean)
    .join('\n')
}
