/** The agent clients we support by name. */
export const clients = ['claude', 'codex', 'gemini', 'opencode'] as const
export type Client = (typeof clients)[number]

/** One word for a client, however it introduces itself: `claude-code` to one server is `claude` to another. */
export function clientWord(name: string | undefined): string | undefined {
  const word = name
    ?.toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return clients.find((client) => word?.startsWith(client)) ?? (word || undefined)
}
