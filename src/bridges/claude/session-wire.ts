import { chmodSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { escapePath } from './envelope.ts'
import { frameIn, messageIn, noticesIn, type PeerMessage, type PeerNotice } from './peer-frames.ts'

/*
 * How sessions of Claude Code write to one another: a connection for each message, a line with a token, a line with
 * the message, and then the sender waits until the receiver closes. That is all it hears, so we close only what is on
 * our disk.
 */

const maxLine = 1_048_576
const closeMs = 5_000
/** What is not kept by then is not kept later: its sender is about to take it for lost, and may send it again. */
const keepMs = 4_500
const firstLineMs = 30_000

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
  /** `done` closes the connection, which tells the sender that the message is kept. Returns how to forget it. */
  onMessage: (message: PeerMessage, done: () => void) => () => void
  onNotice: (notice: PeerNotice) => void
}

/** Listens for one of us. Whoever connects and says nothing only looks whether anybody is there. */
export function listen(path: string, receiver: Receiver): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (connection) => serve(connection, receiver))
  rmSync(path, { force: true })
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(path, () => {
      try {
        chmodSync(path, 0o600)
        resolve(server)
      } catch (error) {
        // Somebody has removed it already.
        server.close()
        reject(error as Error)
      }
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
      if (message !== undefined) setTimeout(onMessage(message, done), keepMs).unref()
    }
    if (open === 0) connection.end()
  })
}
