import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ClientSetup, hookCommand, type Place, serverCommand, serverEnv } from '../setup/client.ts'
import { findProgram } from '../setup/find-program.ts'
import type { Hooks } from '../setup/json-hooks.ts'
import { installJson, uninstallJson } from '../setup/json-settings.ts'
import { installToml, readToml, uninstallToml } from '../setup/toml-settings.ts'
import { listCodexHooks } from './trust.ts'

/** Events, and how many seconds each may take before Codex goes on without it; it allows the last one no more. */
const events = {
  SessionStart: 30,
  UserPromptSubmit: 30,
  PostToolUse: 30,
  Stop: 30,
  SubagentStop: 30,
  PreCompact: 30,
  SessionEnd: 3,
}

const howToTrust = 'start codex, which asks about them, or type /hooks there'
const trusted = ['trusted', 'managed']

export const codex: ClientSetup = {
  name: 'codex',
  label: 'Codex',
  binary: 'codex',
  home: (env) => env['CODEX_HOME'] || join(env['HOME'] ?? homedir(), '.codex'),
  files(place) {
    const dir = place.scope === 'project' ? join(place.project, '.codex') : codex.home(place.env)
    return [
      {
        client: 'codex',
        id: 'hooks',
        path: join(dir, 'hooks.json'),
        install: (text) => installJson(text, { hooks: hooks(place) }),
        uninstall: uninstallJson,
      },
      {
        client: 'codex',
        id: 'config',
        path: join(dir, 'config.toml'),
        install: (text) => installToml(text, server(place)),
        uninstall: uninstallToml,
      },
    ]
  },
  next: `Codex skips new hooks until you trust them: ${howToTrust}`,
  withoutPlugin: 'codex plugin remove mailbox@agent-mailbox',
  hasPlugin({ env }) {
    const { plugins = {} } = readToml(join(codex.home(env), 'config.toml')) as Plugins
    return Object.entries(plugins).some(
      ([name, { enabled }]) => name.startsWith('mailbox@') && enabled === true,
    )
  },
  async obstacle({ env, project }) {
    const program = findProgram('codex', env)
    if (program === undefined)
      return {
        found: 'only Codex can tell whether its hooks are trusted',
        next: 'put codex on the PATH',
      }
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

function hooks(place: Place): Hooks {
  const hook = (event: string, timeout: number) => ({
    hooks: [{ type: 'command', command: hookCommand('codex', event, place), timeout }],
  })
  return Object.fromEntries(Object.entries(events).map(([event, timeout]) => [event, [hook(event, timeout)]]))
}

function server(place: Place) {
  const [command, ...args] = serverCommand(place)
  const env = serverEnv(place)
  // Codex hands a server only the variables that are named here.
  const forwarded = ['MAILBOX_SPACE', 'MAILBOX_AGENT'].filter((name) => env?.[name] === undefined)
  return { command: command!, args, env_vars: forwarded, ...(env && { env }) }
}
