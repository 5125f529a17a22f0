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

const elsewhere = 'remote'
const marked = (word: string | undefined): string => (word === undefined ? elsewhere : `${elsewhere}:${word}`)

/**
 * A session that came over HTTP, as it is recorded. It may name any process and any session as its own, so it is never
 * taken for that of a client on this machine.
 */
export const remoteSession = <Said extends { client?: string | undefined; id?: string | undefined }>(
  session: Said,
): Said => ({
  ...session,
  client: marked(session.client),
  // Also where a later run of the agent takes it over, with another client.
  ...(session.id === undefined ? {} : { id: marked(session.id) }),
})

/** Whether a session came over HTTP. */
export const isRemote = ({ client }: { client?: string | undefined }): boolean =>
  client === elsewhere || (client?.startsWith(`${elsewhere}:`) ?? false)

/** What a machine has said of a session of its own, without the mark. */
export const sessionAsSaid = <Said extends { client?: string | undefined; id?: string | undefined }>(
  session: Said,
): Said => {
  const said = (word: string | undefined) => word?.replace(/^remote:/, '')
  const { client, id } = session
  return { ...session, client: said(client), ...(id === undefined ? {} : { id: said(id) }) }
}
