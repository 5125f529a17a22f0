import { WebSocket } from 'ws'
import type { Entry } from '../model/entry.ts'
import { errorFrom } from './connection.ts'
import type { Connect, Piece } from './stream.ts'

/** The hub sends a heartbeat every 15 s. */
const silentMs = 45_000
/** With this many entries held, reading pauses until they are consumed. */
const heldAtMost = 1_000

/** A WebSocket as a generator. Entries are held until they are consumed; meanwhile no more are read. */
export const frames: Connect = async function* (connection, path, ending) {
  const url = `${connection.url.replace(/^http/, 'ws')}${path}`
  const socket = new WebSocket(url, ['mailbox'], { headers: connection.headers(), perMessageDeflate: false })
  const held: Piece[] = []
  let wake = () => {}
  let over: { error?: Error } | undefined
  const end = (error?: Error) => {
    over ??= error === undefined ? {} : { error }
    wake()
  }
  const watch = setTimeout(() => socket.terminate(), silentMs)
  watch.unref()
  socket.on('message', (data: Buffer) => {
    watch.refresh()
    held.push({ entry: (JSON.parse(data.toString()) as { entry: Entry }).entry })
    if (held.length >= heldAtMost) socket.pause()
    wake()
  })
  socket.on('ping', () => watch.refresh())
  socket.on('unexpected-response', (_, response) => {
    let text = ''
    response.on('data', (part: Buffer) => (text += part.toString()))
    response.on('end', () => end(errorFrom(response.statusCode ?? 0, text)))
  })
  socket.on('error', end)
  socket.on('close', () => end())
  const stop = () => socket.terminate()
  ending.addEventListener('abort', stop)
  try {
    for (;;) {
      const piece = held.shift()
      if (piece !== undefined) yield piece
      else if (over !== undefined) break
      else {
        if (socket.isPaused) socket.resume()
        await new Promise<void>((resolve) => (wake = resolve))
      }
    }
    if (over.error !== undefined) throw over.error
  } finally {
    clearTimeout(watch)
    ending.removeEventListener('abort', stop)
    socket.terminate()
  }
}
