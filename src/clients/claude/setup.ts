import { join } from 'node:path'
import { takingToolPattern } from '../../agent/subagent.ts'
import {
  type ClientSetup,
  claudeHooks,
  commandHook,
  hookSeconds,
  jsonFile,
  type Place,
  stdioServer,
  userHome,
} from '../setup/client-setup.ts'
import type { Hooks } from '../setup/json-hooks.ts'
import { type Json, readSettingsFile } from '../setup/json-value.ts'

const sessionEndSeconds = 10
/** For the hook that waits for mail while the session is idle, and ends to wake it. */
const rewakeSeconds = 86_400

const configDir = (env: NodeJS.ProcessEnv) => env['CLAUDE_CONFIG_DIR'] || undefined

export const claudeSetup: ClientSetup = {
  name: 'claude',
  label: 'Claude Code',
  binary: 'claude',
  home: (env) => configDir(env) ?? join(userHome(env), '.claude'),
  files(place) {
    const { scope, project, env } = place
    const isProject = scope === 'project'
    const dir = isProject ? join(project, '.claude') : claudeSetup.home(env)
    // With CLAUDE_CONFIG_DIR everything is in that directory; otherwise the servers are beside it.
    const servers = isProject
      ? join(project, '.mcp.json')
      : join(configDir(env) ?? userHome(env), '.claude.json')
    return [
      jsonFile('claude', 'settings', join(dir, 'settings.json'), { hooks: hooks(place) }),
      jsonFile('claude', 'servers', servers, { server: { under: 'mcpServers', value: server(place) } }),
    ]
  },
  removePlugin: 'claude plugin uninstall mailbox',
  hasPlugin: (place) =>
    settingsOf(place).some((settings) => {
      const plugins = Object.entries((settings['enabledPlugins'] ?? {}) as Record<string, unknown>)
      return plugins.some(([name, isEnabled]) => name.startsWith('mailbox@') && isEnabled === true)
    }),
  async obstacle(place) {
    if (!settingsOf(place).some((settings) => settings['disableAllHooks'] === true)) return undefined
    return { found: 'its settings contain "disableAllHooks"', next: 'remove that from its settings' }
  },
}

/** The settings that apply in a directory: the user's, the project's, and the user's for the project. */
const settingsOf = ({ env, project }: Place): Json[] =>
  [
    join(claudeSetup.home(env), 'settings.json'),
    join(project, '.claude', 'settings.json'),
    join(project, '.claude', 'settings.local.json'),
  ]
    .map((path) => readSettingsFile(path))
    .filter((settings) => settings !== undefined)

function hooks(place: Place): Hooks {
  const groups = claudeHooks('claude', place, sessionEndSeconds)
  const rewake = { ...commandHook('claude', 'Rewake', rewakeSeconds, place), asyncRewake: true }
  groups['Stop']!.push({ hooks: [rewake] })
  // Its MCP calls do not say whether they come from a subagent; this hook does.
  const call = commandHook('claude', 'PreToolUse', hookSeconds, place)
  return { ...groups, PreToolUse: [{ matcher: takingToolPattern, hooks: [call] }] }
}

// The tools are few and short: the agent should have them at hand rather than search for them.
const server = (place: Place) => ({ type: 'stdio', ...stdioServer(place), alwaysLoad: true })
