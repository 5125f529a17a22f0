const tag = 'cross-session-message'

/** What a message from one of us says. How far it is trusted is not for us to claim, so `from-mode` is left out. */
export function envelope(text: string, from: { socket?: string; name: string }): string {
  const address = from.socket === undefined ? '' : ` from="uds:${escapePath(from.socket)}"`
  const name = from.name.replaceAll(/["<>\n]/g, '').slice(0, 64)
  return `<${tag}${address} from-name="${name}">\n${text.replaceAll(`</${tag}`, `<\\/${tag}`)}\n</${tag}>`
}

export const escapePath = (path: string): string =>
  path.replaceAll(/[^A-Za-z0-9:_/.\\-]/g, (char) => encodeURIComponent(char))

export interface Opened {
  /** The socket of the sender, and what it calls itself: its own word. */
  from: string | undefined
  fromName: string | undefined
  text: string
}

export function openEnvelope(content: string): Opened {
  const found = /^<cross-session-message((?:\s[^>]*)?)>\n?([\s\S]*?)\n?<\/cross-session-message>\s*$/.exec(
    content,
  )
  if (found === null) return { from: undefined, fromName: undefined, text: content }
  const [, attributes = '', text = ''] = found
  const attribute = (name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1]
  return {
    from: unescapePath(attribute('from')),
    fromName: attribute('from-name'),
    text: text.replaceAll(`<\\/${tag}`, `</${tag}`),
  }
}

function unescapePath(address: string | undefined): string | undefined {
  if (address?.startsWith('uds:') !== true) return undefined
  try {
    return decodeURIComponent(address.slice(4))
  } catch {
    return undefined
  }
}
