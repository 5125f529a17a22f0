import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { MailboxError } from '../base/errors.ts'
import type { Admission } from './admit.ts'
import { toAnswer } from './errors.ts'
import { brief } from './log.ts'
import type { Streams } from './streams.ts'

/** Answers WebSocket upgrades. Node hands them out beside the requests, so the routes never see them. */
export function serveUpgrades(server: Server, admission: Admission, streams: Streams): void {
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    void admission.count(async () => {
      const outcome = { operation: 'other', status: 101 }
      try {
        const caller = await admission.admit(incoming)
        const { pathname, searchParams } = new URL(`http://hub${incoming.url}`)
        if (pathname !== '/api/stream')
          throw new MailboxError('not_found', `there is no WebSocket at ${brief(pathname)}`, {
            hint: 'connect to /api/stream',
          })
        outcome.operation = 'stream'
        const query = (name: string) => searchParams.get(name) ?? undefined
        const request = { caller, after: query('after'), mailbox: query('mailbox') }
        if (!(await streams.serveSocket(request, incoming, socket, head))) outcome.status = 400
      } catch (thrown) {
        outcome.status = turnAway(incoming, socket, thrown)
      }
      return outcome
    })
  })

  function turnAway(incoming: IncomingMessage, socket: Duplex, thrown: unknown): number {
    admission.report(incoming, thrown)
    const { status, headers, body } = toAnswer(thrown)
    const text = JSON.stringify(body)
    const lines = Object.entries({
      ...headers,
      connection: 'close',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`)
    return status
  }
}
