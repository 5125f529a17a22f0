import { request as httpRequest } from 'node:http'
import { expect } from 'vitest'

const both = 'application/json, text/event-stream'
export const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'Wire', version: '1' },
  },
}
/** A request of the newer protocol carries everything with it. */
const modernEnvelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'Wire', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
export const callOf = (name: string, args: object, isModern: boolean) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name, arguments: args, ...(isModern ? { _meta: modernEnvelope } : {}) },
})
export const modernHeaders = (name: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
})

export interface Ask {
  method?: string
  headers?: Record<string, string>
  body?: unknown
  /** Sent as it is. */
  raw?: string | Buffer
}

/** One request, exactly as it is told, on a socket of its own. */
export function ask(url: string, { method = 'POST', headers = {}, body, raw }: Ask) {
  const data = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const outgoing = httpRequest(url, {
    method,
    agent: false,
    headers: {
      accept: both,
      ...(data === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  const answer = new Promise<{ status: number; session: string | undefined; text: string }>(
    (resolve, reject) => {
      outgoing.on('error', reject)
      outgoing.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => (text += part))
        response.on('error', reject)
        const session = response.headers['mcp-session-id'] as string | undefined
        response.on('end', () => resolve({ status: response.statusCode!, session, text }))
      })
    },
  )
  answer.catch(() => {}) // A test that hangs up does not wait for it.
  outgoing.end(data)
  /** Reads nothing of the answer. */
  const pause = () => outgoing.on('response', (response) => response.pause())
  return { answer, pause, hangUp: () => outgoing.destroy() }
}

/** A session of the older protocol, by hand. */
export async function begin(url: string, token: string): Promise<Record<string, string>> {
  const authorization = `Bearer ${token}`
  const { session } = await ask(url, { headers: { authorization }, body: initialize }).answer
  return { authorization, 'mcp-session-id': session!, 'mcp-protocol-version': '2025-11-25' }
}

export async function end(url: string, headers: Record<string, string>): Promise<void> {
  expect((await ask(url, { method: 'DELETE', headers }).answer).status).toBe(200)
}
