import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { clientProgram } from '../../helpers/install.ts'
import { bareEnv, type ClientHome, type RunningClient, startClient } from './claude.ts'

const plugin = pathToFileURL(fileURLToPath(new URL('../../../dist/opencode-plugin.js', import.meta.url)))

export interface OpencodeOptions {
  home: ClientHome
  modelUrl: string
  args: readonly string[]
  /** MCP servers by name. */
  servers?: Record<string, object>
}

/** Starts the real OpenCode, with the mailbox's plugin, against a scripted model. */
export function startOpencode(options: OpencodeOptions): RunningClient {
  const { home, args } = options
  const env = setUpOpencode(options)
  const plugins = join(home.home, '.config', 'opencode', 'plugin')
  mkdirSync(plugins, { recursive: true })
  writeFileSync(join(plugins, 'mailbox.js'), `export * from ${JSON.stringify(plugin.href)}\n`)
  const client = startClient(clientProgram('opencode'), args, { cwd: home.project, env })
  client.end()
  return client
}

/** Writes its settings, and gives the environment in which it finds them. */
export function setUpOpencode({
  home,
  modelUrl,
  servers,
}: Omit<OpencodeOptions, 'args'>): Record<string, string> {
  const config = join(home.home, '.config')
  mkdirSync(join(config, 'opencode'), { recursive: true })
  // It wants a package of its own from a registry; one that is not there fails at once.
  writeFileSync(join(home.home, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retries=0\n')
  const limit = { context: 100_000, output: 8_000 }
  const scripted = {
    npm: '@ai-sdk/openai-compatible',
    name: 'scripted',
    options: { baseURL: `${modelUrl}/v1`, apiKey: 'a-key-for-loopback' },
    models: { model: { name: 'model', tool_call: true, limit } },
  }
  writeFileSync(
    join(config, 'opencode', 'opencode.json'),
    JSON.stringify({
      ...{ autoupdate: false, share: 'disabled', permission: { '*': 'allow' } },
      ...{ model: 'scripted/model', small_model: 'scripted/model', provider: { scripted } },
      ...(servers === undefined ? {} : { mcp: servers }),
    }),
  )
  return {
    ...bareEnv(home),
    ...{ XDG_CONFIG_HOME: config, XDG_DATA_HOME: join(home.home, 'data') },
    ...{ XDG_CACHE_HOME: join(home.home, 'cache'), XDG_STATE_HOME: join(home.home, 'state') },
    ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
    ...{ OPENCODE_DISABLE_LSP_DOWNLOAD: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' },
  }
}

/** The words that start it as a server on a port of its own. */
export const serveWords = ['serve', '--port', '0', '--hostname', '127.0.0.1']

export type Post = (path: string, body: object) => Promise<{ id: string }>

/** Waits until a server listens, and gives what speaks to it. */
export async function postTo(server: RunningClient): Promise<Post> {
  await server.said('listening on ')
  const url = /listening on (\S+)/.exec(server.stdout())![1]!
  return async (path, body) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return JSON.parse(text || '{}') as { id: string }
  }
}

/** Resolves when the turn is over. */
export const promptOver = (post: Post, id: string, text: string): Promise<unknown> =>
  post(`/session/${id}/message`, { parts: [{ type: 'text', text }] })
