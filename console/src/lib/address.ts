/** The box that holds mail to an address: a broadcast to a swarm goes to the swarm's tag. */
export const boxOf = (address: string): string =>
  address.startsWith('broadcast:') ? `swarm:${address.slice('broadcast:'.length)}` : address

export const isTag = (box: string): boolean =>
  box.includes(':') && !box.startsWith('role:') && !box.startsWith('agent:')

/** `project:inscription` is shown as `#inscription`; other tags keep their namespace. */
export function channelName(tag: string): { name: string; kind: string | null } {
  const colon = tag.indexOf(':')
  const kind = tag.slice(0, Math.max(0, colon))
  return { name: tag.slice(colon + 1), kind: kind === 'project' || kind === '' ? null : kind }
}

/** Parses typed recipients. Names may contain spaces, so commas, semicolons and newlines separate them. */
export const parseRecipients = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,;\n]/)
      .map((one) => one.trim().replace(/^#(?=.)/, 'project:'))
      .filter((one) => one !== ''),
  ),
]
