import { request as httpRequest } from 'node:http'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { type StartHubOptions, startHub } from '../../src/hub/hub.ts'
import { createAgentToken, type NewToken } from '../../src/hub/tokens.ts'
import type { OpenSpaceOptions } from '../../src/space/api.ts'
import { tempSpace } from './temp.ts'

interface LogLine {
  level: number
  msg: string
  event?: string
  reason?: string
  status?: number
  path?: string
  [field: string]: unknown
}

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers have every shape
  json: any
}

export interface AskOptions {
  method?: string
  token?: string | null
  body?: unknown
  /** Sent as it is. */
  raw?: string | Buffer
  headers?: Record<string, string>
}

/** A hub in this process, on a space and a port of its own, with everything it logs. */
export async function stageHub(
  options: Partial<StartHubOptions> & { open?: Partial<OpenSpaceOptions> } = {},
) {
  const { open, ...hubOptions } = options
  const space = options.space ?? (await tempSpace(open))
  const lines: LogLine[] = []
  const into = new Writable({
    write(chunk: Buffer, _, done) {
      for (const line of chunk.toString().split('\n'))
        if (line !== '') lines.push(JSON.parse(line) as LogLine)
      done()
    },
  })
  const hub = await startHub({ version: '0.0.0-test', port: 0, log: pino(into), ...hubOptions, space })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= hub.stop())
  onTestFinished(stop)

  /** One request, exactly as it is told: `fetch` would not let a test forge Host or Origin. */
  function ask(path: string, { method, token = hub.token, body, raw, headers = {} }: AskOptions = {}) {
    const data = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    return new Promise<Answer>((resolve, reject) => {
      const outgoing = httpRequest(`${hub.url}${path}`, {
        method: method ?? (data === undefined ? 'GET' : 'POST'),
        agent: false,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(data === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      })
      outgoing.on('error', reject)
      outgoing.on('response', (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(parts).toString()
          const isJson = response.headers['content-type']?.startsWith('application/json') ?? false
          resolve({
            ...{ status: response.statusCode!, headers: response.headers, text },
            json: isJson ? JSON.parse(text) : undefined,
          })
        })
      })
      outgoing.end(data)
    })
  }

  return {
    hub,
    space,
    url: hub.url,
    token: hub.token,
    /** Everything that was logged so far. */
    lines,
    refusals: () => lines.filter(({ event }) => event === 'refused'),
    agentToken: (name: string, options?: NewToken) => createAgentToken(space.dir, name, options),
    ask,
    /** An operation of a mailbox. */
    act: (name: string, operation: string, body: object = {}, more: AskOptions = {}) =>
      ask(`/api/mailboxes/${encodeURIComponent(name)}/${operation}`, { method: 'POST', body, ...more }),
    /** A figure of /metrics. */
    async metric(name: string): Promise<number> {
      const { text } = await ask('/metrics')
      const line = text.split('\n').find((one) => one.startsWith(`${name} `))
      return Number(line?.split(' ').at(-1))
    },
    stop,
  }
}

export type Stage = Awaited<ReturnType<typeof stageHub>>
