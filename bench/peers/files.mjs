import { closeSync, fdatasyncSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { toLine } from '../lib/messages.mjs'
import { one } from '../lib/modes.mjs'
import { scratchDir } from '../lib/scratch.mjs'

/** A file for each message, written aside and renamed into the inbox, as in a Maildir. */
function variant(synced) {
  return {
    name: synced ? 'files-fsync' : 'files',
    title: `file per message, rename, ${synced ? 'with' : 'no'} fsync`,
    kind: 'peer',
    durable: synced,
    durability: synced
      ? 'file and directory synced before the answer'
      : 'not synced: a power loss takes what the kernel still held',
    modes: [one],
    start: async () => ({
      fresh: async () => scratchDir('files'),
      stop: async () => {},
    }),
    async open(dir, _mode, next) {
      mkdirSync(join(dir, 'tmp'))
      mkdirSync(join(dir, 'new'))
      const inbox = openSync(join(dir, 'new'), 'r')
      let number = 0
      return {
        sync: true,
        send() {
          const name = `${String(++number).padStart(9, '0')}.json`
          const fd = openSync(join(dir, 'tmp', name), 'wx')
          writeSync(fd, toLine(next()))
          if (synced) fdatasyncSync(fd)
          closeSync(fd)
          renameSync(join(dir, 'tmp', name), join(dir, 'new', name))
          if (synced) fsyncSync(inbox)
        },
        close: () => closeSync(inbox),
      }
    },
  }
}

/** @type {import('./index.mjs').Peer[]} */
export const files = [variant(true), variant(false)]
