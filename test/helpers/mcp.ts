import { fileURLToPath } from 'node:url'
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished } from 'vitest'
import { createAgentToken } from '../../src/hub/tokens.ts'
import { startScript } from './processes.ts'

const program = new URL('../../dist/cli.cjs', import.meta.url)
const cli = fileURLToPath(program)

export const eras: [name: string, mode: VersionNegotiationMode][] = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
]

export interface Connected {
  client: Client
  /** Calls a tool and gives its text and its facts; throws when the tool says that it failed. */
  call(
    name: string,
    args?: Record<string, unknown>,
    meta?: Record<string, unknown>,
  ): Promise<{ text: string; facts: Record<string, unknown> }>
  /** The text of a failure. */
  refused(name: string, args?: Record<string, unknown>): Promise<string>
}

/** A client of its own for an agent on standard input and output, or for whoever the server makes of it. */
export async function connect(
  dir: string,
  name: string | undefined,
  mode: VersionNegotiationMode = 'legacy',
  /** Whether this process is the client, or another that stands between. */
  ownProcess = false,
  env: Record<string, string> = {},
): Promise<Connected & { pid: number | null }> {
  const words = ['--space', dir, 'mcp', ...(name === undefined ? [] : ['--as', name])]
  const command = [process.execPath, cli, ...words]
  // A shell that has something left to do afterwards stays.
  const [first, ...rest] = ownProcess ? ['sh', '-c', '"$@"; exit', 'sh', ...command] : command
  const transport = new StdioClientTransport({
    ...{ command: first!, args: rest, stderr: 'ignore' },
    // The rest of its own environment is what a client gives to a server; this keeps its keys out of the real home.
    env: { ...getDefaultEnvironment(), XDG_CONFIG_HOME: process.env['XDG_CONFIG_HOME']!, ...env },
  })
  const client = newClient(mode)
  await client.connect(transport)
  return { ...connected(client), pid: transport.pid }
}

/** The same over HTTP, for the agent whose token it is. */
export async function connectHttp(
  url: string,
  token: string,
  mode: VersionNegotiationMode = 'legacy',
  { clientName, headers = {} }: { clientName?: string; headers?: Record<string, string> } = {},
): Promise<Connected & { transport: StreamableHTTPClientTransport }> {
  const requestInit = { headers: { ...headers, authorization: `Bearer ${token}` } }
  const client = newClient(mode, clientName)
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit })
  await client.connect(transport)
  return { ...connected(client), transport }
}

/** `mailbox serve` in a process of its own. */
export async function serveHub(dir: string) {
  const running = startScript(program, ['--space', dir, '--json', 'serve', '--port', '0'])
  const { url, token } = JSON.parse(await running.line(/"url"/)) as { url: string; token: string }
  const metric = async (name: string): Promise<number> => {
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    const line = (await answer.text()).split('\n').find((one) => one.startsWith(`${name} `))
    return Number(line?.split(' ').at(-1))
  }
  return {
    running,
    url,
    mcpUrl: `${url}/mcp`,
    tokenOf: (name: string) => createAgentToken(dir, name),
    metric,
  }
}

/** How agents come in: each with a client of its own. */
export type Door = (
  dir: string,
  mode: VersionNegotiationMode,
) => Promise<(name: string) => Promise<Connected>>

const doors: [name: string, door: Door][] = [
  ['standard input and output', async (dir, mode) => (name) => connect(dir, name, mode)],
  [
    'HTTP',
    async (dir, mode) => {
      const { mcpUrl, tokenOf } = await serveHub(dir)
      return (name) => connectHttp(mcpUrl, tokenOf(name), mode)
    },
  ],
]

/** Every door in every era. */
export const ways = doors.flatMap(([door, open]) =>
  eras.map(([era, mode]): [string, string, Door, VersionNegotiationMode] => [door, era, open, mode]),
)

const newClient = (mode: VersionNegotiationMode, name = 'Story Teller'): Client =>
  new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode } })

function connected(client: Client): Connected {
  onTestFinished(() => client.close())
  const run = async (tool: string, args: Record<string, unknown>, meta?: Record<string, unknown>) => {
    const _meta = meta === undefined ? {} : { _meta: meta }
    const result = await client.callTool({ name: tool, arguments: args, ..._meta })
    const [content] = result.content as { text: string }[]
    return {
      isError: result.isError === true,
      text: content!.text,
      facts: result.structuredContent as Record<string, unknown>,
    }
  }
  return {
    client,
    async call(tool, args = {}, meta) {
      const { isError, ...rest } = await run(tool, args, meta)
      if (isError) throw new Error(rest.text)
      return rest
    },
    async refused(tool, args = {}) {
      const { isError, text } = await run(tool, args)
      expect(isError).toBe(true)
      return text
    },
  }
}
