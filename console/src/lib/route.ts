/** The page that a URL stands for. We parse the raw path because names may contain any character. */
export type Route =
  | { page: 'needs-you'; id?: string }
  | { page: 'triage'; id?: string }
  | { page: 'threads'; id?: string }
  | { page: 'channel'; tag: string; id?: string }
  | { page: 'agents' }
  | { page: 'agent'; name: string; id?: string }
  | { page: 'message'; id: string }
  | { page: 'search'; id?: string }
  | { page: 'dead'; id?: string }
  | { page: 'stats' | 'traffic' | 'replay' | 'audit' | 'settings' | 'compose' | 'drafts' | 'away' }
  | { page: 'missing' }

/** Encodes a path segment. Browsers drop segments that consist of dots, so those get a prefix. */
export const segment = (text: string): string => encodeURIComponent(text.replace(/^(?=~|\.+$)/, '~'))

function readSegment(raw: string): string {
  try {
    return decodeURIComponent(raw).replace(/^~/, '')
  } catch {
    return raw
  }
}

export const path = (...parts: readonly string[]): string => `/${parts.map(segment).join('/')}`

export function parseRoute(pathname: string): Route {
  const [page = '', first, second] = pathname
    .replace(/^\/|\/$/g, '')
    .split('/')
    .map(readSegment)
  const id = <K extends string>(value: string | undefined, key: K) =>
    value === undefined ? {} : { [key]: value }
  switch (page) {
    case '':
      return { page: 'needs-you' }
    case 'needs-you':
    case 'triage':
    case 'threads':
    case 'search':
    case 'dead':
      return { page, ...id(first, 'id') }
    case 'channels':
      return first === undefined ? { page: 'threads' } : { page: 'channel', tag: first, ...id(second, 'id') }
    case 'agents':
      return first === undefined ? { page } : { page: 'agent', name: first, ...id(second, 'id') }
    case 'messages':
      return first === undefined ? { page: 'missing' } : { page: 'message', id: first }
    case 'stats':
    case 'traffic':
    case 'replay':
    case 'audit':
    case 'settings':
    case 'compose':
    case 'drafts':
    case 'away':
      return { page }
    default:
      return { page: 'missing' }
  }
}
