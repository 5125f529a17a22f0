import { join } from 'node:path'
import {
  type ClientSetup,
  claudeHooks,
  jsonFile,
  type Place,
  stdioServer,
  userHome,
} from '../setup/client-setup.ts'
import { findProgram } from '../setup/find-program.ts'
import { readSettingsFile } from '../setup/json-value.ts'
import { installToml, parseToml, uninstallToml } from '../setup/toml-settings.ts'
import { listCodexHooks } from './trust.ts'

/** Codex allows no more. */
const sessionEndSeconds = 3

const howToTrust = 'start codex, which asks about its new hooks, or type /hooks there'
const trusted = ['trusted', 'managed']

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
  hasPlugin({ env }) {
    const config = readSettingsFile(join(codexSetup.home(env), 'config.toml'), parseToml)
    const plugins = Object.entries((config?.['plugins'] ?? {}) as Record<string, { enabled?: boolean }>)
    return plugins.some(([name, { enabled }]) => name.startsWith('mailbox@') && enabled === true)
  },
  async obstacle({ env, project }) {
    const program = findProgram('codex', env)
    if (program === undefined)
      return { found: 'only Codex can tell whether its hooks are trusted', next: 'put codex on the PATH' }
    const hooks = await listCodexHooks(program, project, env)
    if (hooks === undefined)
      return { found: 'Codex did not say whether its hooks are trusted', next: howToTrust }
    const skipped = hooks.filter(({ trustStatus, enabled }) => !enabled || !trusted.includes(trustStatus))
    if (hooks.length > 0 && skipped.length === 0) return undefined
    return { found: `Codex skips ${skipped.length} of ${hooks.length} hooks: not trusted`, next: howToTrust }
  },
}

function server(place: Place) {
  const { env, ...command } = stdioServer(place)
  // Codex passes a server only the variables that are named here.
  const forwarded = env === undefined ? ['MAILBOX_SPACE', 'MAILBOX_AGENT'] : ['MAILBOX_AGENT']
  return { ...command, env_vars: forwarded, ...(env && { env }) }
}
