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
import { installToml, readToml, uninstallToml } from '../setup/toml-settings.ts'
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
    const { plugins = {} } = readToml(join(codexSetup.home(env), 'config.toml')) as Plugins
    return Object.entries(plugins).some(
      ([name, { enabled }]) => name.startsWith('mailbox@') && enabled === true,
    )
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
    const found = `Codex skips ${skipped.length} of ${hooks.length} hooks: not trusted`
    return { found, next: howToTrust }
  },
}

interface Plugins {
  plugins?: Record<string, { enabled?: boolean }>
}

function server(place: Place) {
  const { env, ...command } = stdioServer(place)
  // Codex passes a server only the variables that are named here.
  const forwarded = ['MAILBOX_SPACE', 'MAILBOX_AGENT'].filter((name) => env?.[name] === undefined)
  return { ...command, env_vars: forwarded, ...(env && { env }) }
}
