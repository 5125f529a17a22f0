import { createParser } from 'eventsource-parser'
import { MailboxError } from '../base/errors.ts'
import type { Entry } from '../model/entry.ts'
import { type Connection, errorFrom } from './connection.ts'

export interface StreamOptions {
  after: number
  /** Only what concerns this mailbox. */
  mailbox?: string | undefined
  signal?: AbortSignal | undefined
}

/** What a connection yields: entries, and how far the hub has read where there was nothing for us. */
type Piece = { entry: Entry } | { seen: number }

/** One connection, from a point in the journal until it breaks. */
export type Connect = (connection: Connection, path: string, signal: AbortSignal) => AsyncGenerator<Piece>

/**
 * Every entry after a point, and then every new one, until the signal ends it. When the connection breaks,
 * the next one resumes after the last entry that was yielded. The hub keeps nothing for its followers and the
 * journal is the same for all, so nothing is lost or repeated.
 */
export async function* followHub(
  connection: Connection,
  options: StreamOptions,
): AsyncGenerator<{ entry: Entry }> {
  const { mailbox, signal } = options
  const ending = connection.until(signal)
  const connect = connection.stream === 'sse' ? events : (await import('./socket.ts')).frames
  let after = options.after
  for (let retry = 0; !ending.aborted; retry++) {
    const query = new URLSearchParams({ after: String(after), ...(mailbox === undefined ? {} : { mailbox }) })
    try {
      for await (const piece of connect(connection, `/api/stream?${query}`, ending)) {
        retry = 0
        if ('seen' in piece) after = Math.max(after, piece.seen)
        else if (piece.entry.seq > after) {
          after = piece.entry.seq
          yield piece
        }
        if (ending.aborted) return
      }
    } catch (error) {
      // What the hub refused once it will refuse again.
      if (error instanceof MailboxError && error.code !== 'unreachable' && error.code !== 'closed')
        throw error
    }
    if (ending.aborted) return
    await connection.pause(retry, signal).catch(() => {})
  }
}

/** How long a connection may be silent before it counts as broken. The hub sends a heartbeat every 15 s. */
export const silentMs = 45_000

/** Server-sent events. Entries are events; heartbeats are comments: `beat SEQ`. */
const events: Connect = async function* (connection, path, ending) {
  const silence = new AbortController()
  const watch = setTimeout(() => silence.abort(), silentMs)
  watch.unref()
  try {
    const response = await connection.wire.fetch(path, {
      headers: connection.headers({ accept: 'text/event-stream' }),
      signal: AbortSignal.any([ending, silence.signal]),
    })
    if (!response.ok) throw errorFrom(response.status, await response.text())
    const pieces: Piece[] = []
    const parser = createParser({
      onEvent: ({ data }) => void pieces.push({ entry: JSON.parse(data) as Entry }),
      onComment(comment) {
        const seq = /^beat (\d+)$/.exec(comment)?.[1]
        if (seq !== undefined) pieces.push({ seen: Number(seq) })
      },
    })
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      watch.refresh()
      parser.feed(decoder.decode(bytes, { stream: true }))
      yield* pieces.splice(0)
    }
  } finally {
    clearTimeout(watch)
  }
}
