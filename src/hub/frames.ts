import type { Entry } from '../model/entry.ts'
import { hiddenFrom } from '../model/sealed.ts'

/** An entry for followers. It is serialized once, however many there are. */
export interface Frame {
  entry: Entry
  json: string
}

export const toFrame = (entry: Entry): Frame => ({ entry, json: JSON.stringify(entry) })

/** How a kind of stream wraps an entry. */
export type Wrap = (frame: Frame) => Buffer

/** The same for a client that is an agent: what is encrypted for others stays closed. */
export const hiding =
  (wrap: Wrap, agent: string): Wrap =>
  (frame) => {
    const entry = hiddenFrom(frame.entry, agent)
    return wrap(entry === frame.entry ? frame : toFrame(entry))
  }

/** `id` is what a client sends back as Last-Event-ID. JSON contains no newlines. */
export const sseFrame: Wrap = ({ entry, json }) =>
  Buffer.from(`id: ${entry.seq}\nevent: entry\ndata: ${json}\n\n`)

/**
 * A WebSocket message, ready for the socket. A server's frames are not masked, so the bytes are the same for
 * all followers and are built once.
 */
export const webSocketFrame: Wrap = ({ entry, json }) => {
  const text = Buffer.from(`{"seq":${entry.seq},"entry":${json}}`)
  return Buffer.concat([header(text.length), text])
}

const finalText = 0x81

function header(length: number): Buffer {
  if (length < 126) return Buffer.from([finalText, length])
  if (length < 65_536) {
    const bytes = Buffer.from([finalText, 126, 0, 0])
    bytes.writeUInt16BE(length, 2)
    return bytes
  }
  const bytes = Buffer.alloc(10)
  bytes[0] = finalText
  bytes[1] = 127
  bytes.writeBigUInt64BE(BigInt(length), 2)
  return bytes
}
