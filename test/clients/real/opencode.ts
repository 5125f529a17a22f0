import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { clientProgram } from '../../helpers/install.ts'
import { bareEnv, type clientHome, type RunningClient, startClient } from './claude.ts'

const plugin = pathToFileURL(fileURLToPath(new URL('../../../dist/opencode-plugin.js', import.meta.url)))

export interface OpencodeOptions {
  home: ReturnType<typeof clientHome>
  modelUrl: string
  args: readonly string[]
}

/** Starts the real OpenCode, with the mailbox's plugin, against a scripted model. */
export function startOpencode({ home, modelUrl, args }: OpencodeOptions): RunningClient {
  const config = join(home.home, '.config')
  const plugins = join(config, 'opencode', 'plugin')
  mkdirSync(plugins, { recursive: true })
  writeFileSync(join(plugins, 'mailbox.js'), `export * from ${JSON.stringify(plugin.href)}\n`)
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
    }),
  )
  const client = startClient(clientProgram('opencode'), args, {
    cwd: home.project,
    env: {
      ...bareEnv(home),
      ...{ XDG_CONFIG_HOME: config, XDG_DATA_HOME: join(home.home, 'data') },
      ...{ XDG_CACHE_HOME: join(home.home, 'cache'), XDG_STATE_HOME: join(home.home, 'state') },
      ...{ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
      ...{ OPENCODE_DISABLE_LSP_DOWNLOAD: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' },
    },
  })
  client.end()
  return client
}
