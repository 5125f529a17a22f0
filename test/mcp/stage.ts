import { fileURLToPath } from 'node:url'
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished } from 'vitest'

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

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
): Promise<Connected & { pid: number | null }> {
  const words = ['--space', dir, 'mcp', ...(name === undefined ? [] : ['--as', name])]
  const command = [process.execPath, cli, ...words]
  // A shell that has something left to do afterwards stays.
  const [first, ...rest] = ownProcess ? ['sh', '-c', '"$@"; exit', 'sh', ...command] : command
  const transport = new StdioClientTransport({ command: first!, args: rest, stderr: 'ignore' })
  const client = newClient(mode)
  await client.connect(transport)
  return { ...connected(client), pid: transport.pid }
}

/** The same over HTTP, for the agent whose token it is. */
export async function connectHttp(
  url: string,
  token: string,
  mode: VersionNegotiationMode = 'legacy',
): Promise<Connected> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const client = newClient(mode)
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return connected(client)
}

const newClient = (mode: VersionNegotiationMode): Client =>
  new Client({ name: 'Story Teller', version: '1.0.0' }, { versionNegotiation: { mode } })

function connected(client: Client): Connected {
  onTestFinished(() => client.close())
  const run = async (tool: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name: tool, arguments: args })
    const [content] = result.content as { text: string }[]
    return {
      isError: result.isError === true,
      text: content!.text,
      facts: result.structuredContent as Record<string, unknown>,
    }
  }
  return {
    client,
    async call(tool, args = {}) {
      const { isError, ...rest } = await run(tool, args)
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
