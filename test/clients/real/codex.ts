import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientProgram } from '../../helpers/install.ts'
import { bareEnv, type ClientHome, type RunningClient, startClient } from './claude.ts'

export interface CodexOptions {
  home: ClientHome
  modelUrl: string
  /** Lines of `config.toml` besides those that name the model. */
  config?: string
  args: readonly string[]
  env?: Record<string, string>
}

/** Starts the real Codex against a scripted model. */
export function startCodex(options: CodexOptions): RunningClient {
  const client = startClient(clientProgram('codex'), options.args, {
    cwd: options.home.project,
    env: setUpCodex(options),
  })
  client.end()
  return client
}

/** Writes its settings, and gives the environment in which it finds them. */
export function setUpCodex({
  home,
  modelUrl,
  config = '',
  env = {},
}: Omit<CodexOptions, 'args'>): Record<string, string> {
  const codexHome = join(home.home, '.codex')
  mkdirSync(codexHome, { recursive: true })
  writeFileSync(
    join(codexHome, 'config.toml'),
    `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[analytics]
enabled = false

[projects."${home.project}"]
trust_level = "trusted"

${config}
`,
  )
  return { ...bareEnv(home), CODEX_HOME: codexHome, SCRIPTED_KEY: 'a-key-for-loopback', ...env }
}
