/** The box in which mail to a stored address waits: a broadcast to a swarm is mail to its tag. */
export const boxOf = (address: string): string =>
  address.startsWith('broadcast:') ? `swarm:${address.slice('broadcast:'.length)}` : address

export const isTag = (box: string): boolean =>
  box.includes(':') && !box.startsWith('role:') && !box.startsWith('agent:')

/** `project:inscription` is `#inscription`; other kinds of tag say which they are. */
export function channelName(tag: string): { name: string; kind: string | null } {
  const colon = tag.indexOf(':')
  const kind = tag.slice(0, Math.max(0, colon))
  return { name: tag.slice(colon + 1), kind: kind === 'project' || kind === '' ? null : kind }
}

/** Several addresses as somebody types them: names may hold spaces, so commas and lines part them. */
export const parseRecipients = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,;\n]/)
      .map((one) => one.trim().replace(/^#(?=.)/, 'project:'))
      .filter((one) => one !== ''),
  ),
]
