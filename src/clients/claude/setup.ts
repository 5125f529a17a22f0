import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ClientSetup, hookCommand, type Place, serverCommand, serverEnv } from '../setup/client.ts'
import type { Hooks } from '../setup/json-hooks.ts'
import { installJson, uninstallJson } from '../setup/json-settings.ts'
import { type Json, readSettingsFile } from '../setup/json-value.ts'

/** Events, and how many seconds each may take before Claude Code goes on without it. */
const events = {
  SessionStart: 30,
  UserPromptSubmit: 30,
  PostToolUse: 30,
  Stop: 30,
  SubagentStop: 30,
  PreCompact: 30,
  SessionEnd: 10,
}
/** The hook that waits for mail while the session is idle, and ends to wake it. */
const rewakeSeconds = 86_400

const userHome = (env: NodeJS.ProcessEnv) => env['HOME'] ?? homedir()
const configDir = (env: NodeJS.ProcessEnv) => env['CLAUDE_CONFIG_DIR'] || undefined

export const claude: ClientSetup = {
  name: 'claude',
  label: 'Claude Code',
  binary: 'claude',
  home: (env) => configDir(env) ?? join(userHome(env), '.claude'),
  files(place) {
    const { scope, project, env } = place
    const [settings, servers] =
      scope === 'project'
        ? [join(project, '.claude', 'settings.json'), join(project, '.mcp.json')]
        : // With CLAUDE_CONFIG_DIR everything is in that directory, otherwise the servers are beside it.
          [join(claude.home(env), 'settings.json'), join(configDir(env) ?? userHome(env), '.claude.json')]
    return [
      {
        client: 'claude',
        id: 'settings',
        path: settings,
        install: (text) => installJson(text, { hooks: hooks(place) }),
        uninstall: uninstallJson,
      },
      {
        client: 'claude',
        id: 'servers',
        path: servers,
        install: (text) => installJson(text, { server: { under: 'mcpServers', value: server(place) } }),
        uninstall: uninstallJson,
      },
    ]
  },
  withoutPlugin: 'claude plugin uninstall mailbox',
  hasPlugin: (place) =>
    settingsOf(place).some((settings) => {
      const plugins = Object.entries((settings['enabledPlugins'] ?? {}) as Record<string, unknown>)
      return plugins.some(([name, isEnabled]) => name.startsWith('mailbox@') && isEnabled === true)
    }),
  async obstacle(place) {
    if (!settingsOf(place).some((settings) => settings['disableAllHooks'] === true)) return undefined
    return { found: 'its settings have "disableAllHooks"', next: 'take that out of its settings' }
  },
}

/** The settings that hold in a directory: the person's own, the project's, and those of both. */
const settingsOf = ({ env, project }: Place): Json[] =>
  [
    join(claude.home(env), 'settings.json'),
    join(project, '.claude', 'settings.json'),
    join(project, '.claude', 'settings.local.json'),
  ]
    .map(readSettingsFile)
    .filter((settings) => settings !== undefined)

function hooks(place: Place): Hooks {
  const groups: Hooks = {}
  for (const [event, timeout] of Object.entries(events))
    groups[event] = [{ hooks: [{ type: 'command', command: hookCommand('claude', event, place), timeout }] }]
  const command = hookCommand('claude', 'Rewake', place)
  groups['Stop']!.push({
    hooks: [{ type: 'command', command, asyncRewake: true, timeout: rewakeSeconds }],
  })
  return groups
}

function server(place: Place) {
  const [command, ...args] = serverCommand(place)
  const env = serverEnv(place)
  // Few and short: an agent should have them at hand, not search for them.
  return { type: 'stdio', command, args, ...(env && { env }), alwaysLoad: true }
}
