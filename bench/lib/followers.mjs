/**
 * A process with many WebSockets that follow a hub. It looks at every frame of every follower, but takes only
 * the number of its entry from it: the hub is measured, not how fast somebody parses JSON.
 */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { serve } from './child.mjs'
import { Samples } from './stats.mjs'

const digits = { zero: 0x30, nine: 0x39 }
const prefix = '{"seq":'.length
const textFrame = 0x81

class Follower {
  /** The next entry that must come; anything else is lost or doubled. */
  next
  frames = 0
  wrong = 0
  #rest = Buffer.alloc(0)
  #socket
  #onFrame

  constructor({ port, token, after, onFrame }) {
    this.next = after + 1
    this.#onFrame = onFrame
    this.#socket = connect(port, '127.0.0.1')
    this.opened = new Promise((resolve, reject) => {
      this.#socket.on('error', reject)
      this.#socket.once('data', (data) => {
        const end = data.indexOf('\r\n\r\n')
        if (!data.toString('latin1', 0, 12).endsWith('101'))
          reject(new Error(data.toString('latin1', 0, 200)))
        this.#socket.on('data', (bytes) => this.#read(bytes))
        this.#read(data.subarray(end + 4))
        resolve()
      })
    })
    this.#socket.write(
      `GET /api/stream?after=${after} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\n` +
        `Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mailbox, bearer.${token}\r\n` +
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
    )
  }

  #read(bytes) {
    const data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    let at = 0
    for (;;) {
      if (data.length < at + 4) break
      let length = data[at + 1]
      let start = at + 2
      if (length === 126) {
        length = data.readUInt16BE(at + 2)
        start = at + 4
      } else if (length === 127) {
        if (data.length < at + 10) break
        length = Number(data.readBigUInt64BE(at + 2))
        start = at + 10
      }
      if (data.length < start + length) break
      if (data[at] === textFrame) this.#take(data, start, length)
      at = start + length
    }
    this.#rest = at === data.length ? empty : Buffer.from(data.subarray(at))
  }

  #take(data, start, length) {
    let seq = 0
    for (let at = start + prefix; data[at] >= digits.zero && data[at] <= digits.nine; at++)
      seq = seq * 10 + data[at] - digits.zero
    this.frames++
    if (seq !== this.next) this.wrong++
    this.next = seq + 1
    this.#onFrame?.(data, start, length)
  }

  close() {
    this.#socket.destroy()
  }
}

const empty = Buffer.alloc(0)
let followers = []
const latencies = new Samples()

/** One of them reads what it gets, and knows by the payload when it was sent. */
function noteLatency(data, start, length) {
  const { entry } = JSON.parse(data.toString('utf8', start, start + length))
  const sentAt = entry.message?.payload?.sentAt
  if (sentAt !== undefined) latencies.add(performance.timeOrigin + performance.now() - sentAt)
}

serve({
  async open({ port, token, count, after }) {
    followers = Array.from(
      { length: count },
      (_, at) => new Follower({ port, token, after, ...(at === 0 ? { onFrame: noteLatency } : {}) }),
    )
    await Promise.all(followers.map(({ opened }) => opened))
  },

  /** How far the slowest is. */
  progress: () => Math.min(...followers.map(({ next }) => next - 1)),

  result: () => ({
    frames: followers.reduce((sum, { frames }) => sum + frames, 0),
    wrong: followers.reduce((sum, { wrong }) => sum + wrong, 0),
    latencies: latencies.take(),
  }),

  close() {
    for (const follower of followers) follower.close()
  },
})
