import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ClientSetup, hookCommand, type Place, serverCommand, serverEnv } from '../setup/client.ts'
import type { Hooks } from '../setup/json-hooks.ts'
import { installJson, uninstallJson } from '../setup/json-settings.ts'
import { readSettingsFile } from '../setup/json-value.ts'
import { ourEvent } from '../setup/ours.ts'

const events = ['SessionStart', 'BeforeAgent', 'AfterTool', 'AfterAgent', 'SessionEnd', 'PreCompress']
const timeoutMs = 30_000

export const gemini: ClientSetup = {
  name: 'gemini',
  label: 'Gemini CLI',
  binary: 'gemini',
  home: (env) => join(env['GEMINI_CLI_HOME'] || (env['HOME'] ?? homedir()), '.gemini'),
  files(place) {
    const dir = place.scope === 'project' ? join(place.project, '.gemini') : gemini.home(place.env)
    return [
      {
        client: 'gemini',
        id: 'settings',
        path: join(dir, 'settings.json'),
        install: (text) =>
          installJson(text, {
            hooks: hooks(place),
            server: { under: 'mcpServers', value: server(place) },
          }),
        uninstall: uninstallJson,
      },
    ]
  },
  withoutPlugin: 'gemini extensions uninstall mailbox',
  hasPlugin: ({ env }) => existsSync(join(gemini.home(env), 'extensions', 'mailbox')),
  async obstacle({ env, project }) {
    for (const dir of [gemini.home(env), join(project, '.gemini')]) {
      const settings = readSettingsFile(join(dir, 'settings.json'))
      const { enabled = true, disabled = [] } = (settings?.['hooksConfig'] ?? {}) as HooksConfig
      const ours = disabled.some((name) => name.startsWith('mailbox-') || ourEvent(name) !== undefined)
      if (enabled && !ours) continue
      const next = `change "hooksConfig" in ${join(dir, 'settings.json')}, or in Gemini CLI: /hooks enable-all`
      return { found: 'its hooks are switched off', next }
    }
    return undefined
  },
}

interface HooksConfig {
  enabled?: boolean
  disabled?: string[]
}

function hooks(place: Place): Hooks {
  const group = (event: string) => {
    const command = hookCommand('gemini', event, place)
    const name = `mailbox-${event}`
    return {
      ...(event.endsWith('Tool') && { matcher: '*' }),
      hooks: [{ name, type: 'command', command, timeout: timeoutMs }],
    }
  }
  return Object.fromEntries(events.map((event) => [event, [group(event)]]))
}

function server(place: Place) {
  const [command, ...args] = serverCommand(place)
  const env = serverEnv(place)
  return { command, args, ...(env && { env }) }
}
