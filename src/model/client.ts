/** The agent clients we know by name. */
export const clients = ['claude', 'codex', 'gemini', 'opencode'] as const
export type Client = (typeof clients)[number]

/** One word for a client, however it calls itself: `claude-code` at one door is `claude` at another. */
export function clientWord(name: string | undefined): string | undefined {
  const word = name
    ?.toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return clients.find((client) => word?.startsWith(client)) ?? (word || undefined)
}

/** The file of a space whose time says when a hook of a client last ran; which event it was stands in it. */
export const firingMark = (space: string, client: Client): string => `${space}/hooks/${client}.last`
