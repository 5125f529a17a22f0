import { fileURLToPath } from 'node:url'

/** What clients run. */
const hookProgram = fileURLToPath(new URL('../../../dist/hook.sh', import.meta.url))

const entry = (client: string, event: string, more: object = {}) => ({
  hooks: [{ type: 'command', command: `'${hookProgram}' ${client} ${event}`, ...more }],
})

const each = (client: string, events: readonly string[], more: object) =>
  Object.fromEntries(events.map((event) => [event, [entry(client, event, more)]]))

const common = [
  'SessionStart',
  'UserPromptSubmit',
  'PostToolUse',
  'Stop',
  'SubagentStop',
  'PreCompact',
] as const

/** Hooks of Claude Code, as they stand in its settings; with `rewake`, it is woken by them as well. */
export function claudeHooks({ rewake = false } = {}): { hooks: Record<string, object[]> } {
  const hooks: Record<string, object[]> = each('claude', [...common, 'SessionEnd'], { timeout: 30 })
  if (rewake) hooks['Stop']!.push(entry('claude', 'Rewake', { timeout: 600, asyncRewake: true }))
  return { hooks }
}

/** Hooks of Codex, as they stand in its `hooks.json`. */
export const codexHooks = () => ({ hooks: each('codex', [...common, 'SessionEnd'], { timeout: 30 }) })

/** Hooks of Gemini CLI, as they stand in its settings. */
export const geminiHooks = () => ({
  hooks: each(
    'gemini',
    ['SessionStart', 'BeforeAgent', 'AfterTool', 'AfterAgent', 'PreCompress', 'SessionEnd'],
    {
      timeout: 20_000,
    },
  ),
})
