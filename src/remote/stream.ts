import { MailboxError } from '../base/errors.ts'
import type { Entry } from '../model/entry.ts'
import { type Connection, errorFrom } from './connection.ts'

export interface StreamOptions {
  after: number
  /** Only what concerns this mailbox. */
  mailbox?: string | undefined
  signal?: AbortSignal | undefined
}

/** What a connection yields: entries, and how far the journal has been read where there was nothing for us. */
export type Piece = { entry: Entry } | { seen: number }

/** One connection, from a place in the journal until it breaks. */
export type Connect = (connection: Connection, path: string, signal: AbortSignal) => AsyncGenerator<Piece>

const firstPauseMs = 50
const longestPauseMs = 2_000

/**
 * Every entry after a point, and then every new one, until the signal ends it. When the connection breaks,
 * the next one goes on behind the last entry that was handed out: the hub keeps nothing for its followers,
 * the journal is the same for all, so nothing is lost or doubled.
 */
export async function* followHub(
  connection: Connection,
  options: StreamOptions,
): AsyncGenerator<{ entry: Entry }> {
  const { mailbox, signal } = options
  const ending = connection.until(signal)
  const connect = connection.stream === 'sse' ? events : (await import('./socket.ts')).frames
  let after = options.after
  for (let pauseMs = firstPauseMs; !ending.aborted; ) {
    const query = new URLSearchParams({ after: String(after), ...(mailbox === undefined ? {} : { mailbox }) })
    try {
      for await (const piece of connect(connection, `/api/stream?${query}`, ending)) {
        pauseMs = firstPauseMs
        if ('seen' in piece) after = Math.max(after, piece.seen)
        else if (piece.entry.seq > after) {
          after = piece.entry.seq
          yield piece
        }
        if (ending.aborted) return
      }
    } catch (error) {
      // What the hub refuses it will refuse again.
      if (error instanceof MailboxError && error.code !== 'unreachable' && error.code !== 'closed')
        throw error
    }
    if (ending.aborted) return
    await connection.pause(pauseMs, signal).catch(() => {})
    pauseMs = Math.min(2 * pauseMs, longestPauseMs)
  }
}

/** How long a connection may be silent, sign of life included, before it counts as broken. */
const silentMs = 45_000

/** Server-sent events: `id` and `data` lines, an empty line behind each. */
const events: Connect = async function* (connection, path, ending) {
  const silence = new AbortController()
  const watch = setTimeout(() => silence.abort(), silentMs)
  watch.unref()
  try {
    const response = await fetch(`${connection.url}${path}`, {
      headers: connection.headers({ accept: 'text/event-stream' }),
      signal: AbortSignal.any([ending, silence.signal]),
    })
    if (!response.ok) throw errorFrom(response.status, await response.text())
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of response.body ?? []) {
      watch.refresh()
      const blocks = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) {
        const piece = read(block)
        if (piece !== undefined) yield piece
      }
    }
  } finally {
    clearTimeout(watch)
  }
}

function read(block: string): Piece | undefined {
  let id: string | undefined
  for (const line of block.split('\n')) {
    if (line.startsWith('data: ')) return { entry: JSON.parse(line.slice('data: '.length)) as Entry }
    if (line.startsWith('id: ')) id = line.slice('id: '.length)
  }
  return id === undefined ? undefined : { seen: Number(id) }
}
