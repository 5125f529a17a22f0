import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { takingToolPattern } from '../../agent/subagent.ts'
import { given } from '../../base/objects.ts'
import {
  type ClientSetup,
  commandHook,
  jsonFile,
  type Place,
  stdioServer,
  userHome,
} from '../setup/client-setup.ts'
import type { Hooks } from '../setup/json-hooks.ts'
import { readSettingsFile } from '../setup/json-value.ts'
import { ourEvent } from '../setup/our-entries.ts'
import { subagentTool } from './dialect.ts'

const events = [
  'SessionStart',
  'BeforeAgent',
  'BeforeTool',
  'AfterTool',
  'AfterAgent',
  'SessionEnd',
  'PreCompress',
]
/** Its MCP calls do not say whether they come from a subagent: only what happens around them does. */
const matcherOf = (event: string): string | undefined =>
  event === 'BeforeTool' ? `${subagentTool}|${takingToolPattern}` : event === 'AfterTool' ? '*' : undefined
const timeoutMs = 30_000

export const geminiSetup: ClientSetup = {
  name: 'gemini',
  label: 'Gemini CLI',
  binary: 'gemini',
  home: (env) => join(env['GEMINI_CLI_HOME'] || userHome(env), '.gemini'),
  files(place) {
    const dir = place.scope === 'project' ? join(place.project, '.gemini') : geminiSetup.home(place.env)
    const server = { under: 'mcpServers', value: stdioServer(place) }
    return [jsonFile('gemini', 'settings', join(dir, 'settings.json'), { hooks: hooks(place), server })]
  },
  removePlugin: 'gemini extensions uninstall mailbox',
  hasPlugin: ({ env }) => existsSync(join(geminiSetup.home(env), 'extensions', 'mailbox')),
  async obstacle({ env, project }) {
    for (const dir of [geminiSetup.home(env), join(project, '.gemini')]) {
      const settings = readSettingsFile(join(dir, 'settings.json'))
      const config = (settings?.['hooksConfig'] ?? {}) as { enabled?: boolean; disabled?: string[] }
      const { enabled = true, disabled = [] } = config
      const ours = disabled.some((name) => name.startsWith('mailbox-') || ourEvent(name) !== undefined)
      if (enabled && !ours) continue
      const next = `change "hooksConfig" in ${join(dir, 'settings.json')}, or type /hooks enable-all in Gemini CLI`
      return { found: 'its hooks are turned off', next }
    }
    return undefined
  },
}

const hooks = (place: Place): Hooks =>
  Object.fromEntries(
    events.map((event) => {
      const hook = { name: `mailbox-${event}`, ...commandHook('gemini', event, timeoutMs, place) }
      return [event, [{ ...given({ matcher: matcherOf(event) }), hooks: [hook] }]]
    }),
  )
