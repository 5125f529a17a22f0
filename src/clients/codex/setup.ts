import { join } from 'node:path'
import {
  type ClientSetup,
  claudeHooks,
  jsonFile,
  type Place,
  stdioServer,
  userHome,
} from '../setup/client-setup.ts'
import { type Json, readSettingsFile } from '../setup/json-value.ts'
import { installToml, parseToml, uninstallToml } from '../setup/toml-settings.ts'
import { hookKeysIn, pluginHookKeys, skippedHooks } from './trust.ts'

/** Codex allows no more. */
const sessionEndSeconds = 3

const howToTrust = 'start codex, which asks about its new hooks, or type /hooks there'

export const codexSetup: ClientSetup = {
  name: 'codex',
  label: 'Codex',
  binary: 'codex',
  home: (env) => env['CODEX_HOME'] || join(userHome(env), '.codex'),
  files(place) {
    const dir = place.scope === 'project' ? join(place.project, '.codex') : codexSetup.home(place.env)
    return [
      jsonFile('codex', 'hooks', join(dir, 'hooks.json'), {
        hooks: claudeHooks('codex', place, sessionEndSeconds),
      }),
      {
        client: 'codex',
        id: 'config',
        path: join(dir, 'config.toml'),
        install: (text) => installToml(text, server(place)),
        uninstall: uninstallToml,
      },
    ]
  },
  next: 'Codex skips new hooks until you trust them: start codex, which asks about them, or type /hooks there',
  removePlugin: 'codex plugin remove mailbox@agent-mailbox',
  hasPlugin: ({ env }) => pluginIn(configOf(env)) !== undefined,
  async obstacle(place) {
    const { env, project } = place
    const config = configOf(env)
    const plugin = pluginIn(config)
    const events = Object.keys(claudeHooks('codex', place, sessionEndSeconds))
    const keys = [
      // In the home directory both are the same.
      ...[...new Set([codexSetup.home(env), join(project, '.codex')])].flatMap(hookKeysIn),
      ...(plugin === undefined ? [] : pluginHookKeys(plugin, events)),
    ]
    const skipped = skippedHooks(config, keys)
    if (keys.length > 0 && skipped.length === 0) return undefined
    return { found: `Codex skips ${skipped.length} of ${keys.length} hooks: not trusted`, next: howToTrust }
  },
}

const configOf = (env: NodeJS.ProcessEnv): Json | undefined =>
  readSettingsFile(join(codexSetup.home(env), 'config.toml'), parseToml)

/** The name under which our plugin is installed and enabled. */
function pluginIn(config: Json | undefined): string | undefined {
  const plugins = Object.entries((config?.['plugins'] ?? {}) as Record<string, { enabled?: boolean }>)
  return plugins.find(([name, { enabled }]) => name.startsWith('mailbox@') && enabled === true)?.[0]
}

function server(place: Place) {
  const { env, ...command } = stdioServer(place)
  // Codex passes a server only the variables that are named here.
  const forwarded = env === undefined ? ['MAILBOX_SPACE', 'MAILBOX_AGENT'] : ['MAILBOX_AGENT']
  return { ...command, env_vars: forwarded, ...(env && { env }) }
}
