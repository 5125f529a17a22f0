import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { toLine } from '../lib/messages.mjs'
import { batch64, one } from '../lib/modes.mjs'
import { scratchDir } from '../lib/scratch.mjs'

/** The limit of the machine: an append and an fdatasync, and nothing else. @type {import('./index.mjs').Peer[]} */
export const raw = [
  {
    name: 'raw',
    title: 'raw append + fdatasync',
    kind: 'limit',
    durable: true,
    durability: 'synced before the answer',
    modes: [one, batch64],
    start: async () => ({
      fresh: async () => join(scratchDir('raw'), 'lines'),
      stop: async () => {},
    }),
    async open(path, { batch }, next) {
      const fd = openSync(path, 'a')
      const lines = Buffer.from(Array.from({ length: batch }, () => toLine(next())).join(''))
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
]
