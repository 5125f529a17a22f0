import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { lineBytes, toLine } from '../lib/messages.mjs'
import { batch64, one } from '../lib/modes.mjs'
import { scratchDir } from '../lib/scratch.mjs'

const start = async () => ({
  fresh: async () => join(scratchDir('raw'), 'lines'),
  stop: async () => {},
})

const common = { kind: 'limit', durable: true, durability: 'synced before the answer', start }

const linesFor = (batch, next) => Buffer.from(Array.from({ length: batch }, () => toLine(next())).join(''))

/** What the machine allows: a write and an fdatasync, and nothing else. @type {import('./index.mjs').Peer[]} */
export const raw = [
  {
    ...common,
    name: 'raw',
    title: 'raw append + fdatasync',
    modes: [one, batch64],
    async open(path, { batch }, next) {
      const fd = openSync(path, 'a')
      const lines = linesFor(batch, next)
      return {
        sync: true,
        send() {
          writeSync(fd, lines)
          fdatasyncSync(fd)
        },
        close: () => closeSync(fd),
      }
    },
  },
  {
    ...common,
    name: 'raw-overwrite',
    title: 'raw overwrite + fdatasync',
    modes: [one],
    /** A file that does not grow spares the file system its own journal; SQLite's log works like that. */
    async open(path, { batch }, next) {
      const places = 16_384
      const fd = openSync(path, 'w')
      writeSync(fd, Buffer.alloc(places * lineBytes))
      fsyncSync(fd)
      const line = linesFor(batch, next)
      let place = 0
      return {
        sync: true,
        send() {
          writeSync(fd, line, 0, line.length, (place++ % places) * lineBytes)
          fdatasyncSync(fd)
        },
        close: () => closeSync(fd),
      }
    },
  },
]
