import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { isObject } from '../../base/objects.ts'

/*
 * How sessions of Claude Code write to one another: a connection for each message, a line with a token, a line with
 * the message, and then the sender waits until the receiver closes. That is all it hears, so we close only what is on
 * our disk.
 */

const maxLine = 1_048_576
const closeMs = 5_000
const firstLineMs = 30_000

const tag = 'cross-session-message'

export interface PeerMessage {
  id: string
  /** The socket of the sender, and what it calls itself: its own word. */
  from: string | undefined
  fromName: string | undefined
  text: string
}

export interface PeerNotice {
  status: string
  detail: string | undefined
  ids: string[]
}

/** What a message from one of us says. How far it is trusted is not for us to claim, so `from-mode` is left out. */
export function envelope(text: string, from: { socket?: string; name: string }): string {
  const address = from.socket === undefined ? '' : ` from="uds:${escapePath(from.socket)}"`
  const name = from.name.replaceAll(/["<>\n]/g, '').slice(0, 64)
  return `<${tag}${address} from-name="${name}">\n${text.replaceAll(`</${tag}`, `<\\/${tag}`)}\n</${tag}>`
}

const escapePath = (path: string): string =>
  path.replaceAll(/[^A-Za-z0-9:_/.\\-]/g, (char) => encodeURIComponent(char))

export function openEnvelope(content: string): Omit<PeerMessage, 'id'> {
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

/** Sends a message to a session. Resolves when the session has closed the connection, and rejects if it does not. */
export function post(
  socket: string,
  token: string | undefined,
  message: { id: string; content: string; from?: string },
): Promise<void> {
  const { id, content, from } = message
  const frame = {
    ...{ msgV: 1, msg_id: id, type: 'user', message: { role: 'user', content }, priority: 'next' },
    ...(from === undefined ? {} : { from: `uds:${escapePath(from)}` }),
  }
  const lines = [...(token === undefined ? [] : [{ type: 'auth', token }]), frame]
  return new Promise((resolve, reject) => {
    const connection = connect(socket)
    const fail = (error: Error) => {
      connection.destroy()
      reject(error)
    }
    connection.setTimeout(closeMs, () => fail(new Error('the session did not take the message')))
    connection.on('error', fail)
    connection.on('connect', () => connection.end(lines.map((line) => `${JSON.stringify(line)}\n`).join('')))
    connection.on('close', (hadError) => {
      if (!hadError) resolve()
    })
    connection.resume()
  })
}

export interface Receiver {
  /** `done` closes the connection, which tells the sender that the message is kept. */
  onMessage: (message: PeerMessage, done: () => void) => void
  onNotice: (notice: PeerNotice) => void
}

/** Listens for one of us. Whoever connects and says nothing only looks whether anybody is there. */
export function listen(path: string, receiver: Receiver): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (connection) => serve(connection, receiver))
  rmSync(path, { force: true })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      chmodSync(path, 0o600)
      resolve(server)
    })
  })
}

function serve(connection: Socket, { onMessage, onNotice }: Receiver): void {
  let text = ''
  connection.setEncoding('utf8')
  connection.setTimeout(firstLineMs, () => connection.destroy())
  connection.on('error', () => connection.destroy())
  connection.on('data', (data: string) => {
    text += data
    if (text.length > maxLine + 1_024) connection.destroy()
  })
  connection.on('end', () => {
    let open = 0
    const done = () => {
      if (--open === 0) connection.end()
    }
    const frames = text.split('\n').flatMap(frameIn)
    open = frames.filter((frame) => frame['type'] === 'user').length
    for (const frame of frames) {
      if (frame['type'] === 'control') for (const notice of noticesIn(frame)) onNotice(notice)
      const message = frame['type'] === 'user' ? messageIn(frame) : undefined
      if (message !== undefined) onMessage(message, done)
    }
    if (open === 0) connection.end()
  })
}

function frameIn(line: string): Record<string, unknown>[] {
  try {
    const frame: unknown = line === '' ? undefined : JSON.parse(line)
    return isObject(frame) ? [frame] : []
  } catch {
    return []
  }
}

function messageIn(frame: Record<string, unknown>): PeerMessage | undefined {
  const { msg_id: id, message } = frame
  const content = isObject(message) ? message['content'] : undefined
  // Without an id it cannot be told from the same message sent again: the sender hears that it was not taken.
  if (typeof id !== 'string' || id === '' || id.length > 200 || typeof content !== 'string') return undefined
  return { id, ...openEnvelope(content) }
}

function noticesIn(frame: Record<string, unknown>): PeerNotice[] {
  const { action, status, status_detail: detail, drop_reason: reason, orig_msg_id: id } = frame
  if (action !== 'peer_message_status' || typeof status !== 'string') return []
  const dropped = Array.isArray(frame['dropped_msg_ids']) ? frame['dropped_msg_ids'] : []
  const ids = [id, ...dropped].filter((one): one is string => typeof one === 'string')
  const more = [detail, reason].find((one) => typeof one === 'string') as string | undefined
  return [{ status, detail: more, ids: [...new Set(ids)] }]
}
