import { on } from 'node:events'
import { WebSocket } from 'ws'
import type { Entry } from '../model/entry.ts'
import { errorFrom } from './connection.ts'
import { type Connect, silentMs } from './stream.ts'

/** With this many entries held, reading pauses until they are consumed. */
const heldAtMost = 1_000

/** A WebSocket as a generator. Entries are held until they are consumed; meanwhile no more are read. */
export const frames: Connect = async function* (connection, path, ending) {
  const { address, agent } = connection.wire.socket(path)
  const socket = new WebSocket(address, ['mailbox'], {
    ...{ headers: connection.headers(), perMessageDeflate: false },
    ...(agent === undefined ? {} : { agent }),
  })
  const watch = setTimeout(() => socket.terminate(), silentMs)
  watch.unref()
  socket.on('message', () => watch.refresh())
  socket.on('ping', () => watch.refresh())
  // It is reported below. One that comes later has nobody to report to.
  socket.on('error', () => {})
  socket.on('unexpected-response', (_, response) => {
    let text = ''
    response.on('data', (part: Buffer) => (text += part.toString()))
    response.on('end', () => socket.emit('error', errorFrom(response.statusCode ?? 0, text)))
  })
  try {
    const options = { signal: ending, close: ['close'], highWaterMark: heldAtMost }
    for await (const [data] of on(socket, 'message', options)) {
      yield { entry: (JSON.parse(String(data)) as { entry: Entry }).entry }
    }
  } finally {
    clearTimeout(watch)
    socket.terminate()
  }
}
