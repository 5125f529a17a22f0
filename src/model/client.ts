/** The agent clients that are supported by name. */
export const clients = ['claude', 'codex', 'gemini', 'opencode'] as const
export type Client = (typeof clients)[number]

/** One short name per client: `claude-code` and `claude` are the same. */
export function clientWord(name: string | undefined): string | undefined {
  const word = name
    ?.toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40)
  return clients.find((client) => word?.startsWith(client)) ?? (word || undefined)
}

/** Whether a process of the client has one session at a time. The others can have several at once. */
export const hasOneSession = (client: string): boolean => client === 'claude' || client === 'gemini'
