import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  commonWord,
  leftUnread,
  messageAt,
  rankOf,
  rareWords,
  threadBlocks,
  threadName,
} from '../lib/corpus.mjs'
import { envelope } from '../lib/messages.mjs'

/** A Maildir: new mail in one directory, handled mail in another, urgency and age in the file's name. @type {import('./index.mjs').Reader} */
export const files = {
  name: 'files',
  title: 'file per message',
  largest: 100_000,
  limit: 'a million files take too long to make',

  async fill(dir, n, shape, onProgress) {
    for (const part of ['new', 'cur']) mkdirSync(join(dir, part), { recursive: true })
    for (let i = 0; i < n; i++) {
      const note = messageAt(i, n)
      const part = shape === 'handled' && i < n - leftUnread ? 'cur' : 'new'
      const name = `${3 - rankOf(note.priority)}-${String(i).padStart(9, '0')}.json`
      writeFileSync(
        join(dir, part, name),
        JSON.stringify(envelope(note, { from: note.from, thread: note.thread })),
      )
      if (i % 5_000 === 0) onProgress(i / n)
    }
  },

  async open(dir, n) {
    const read = (part, name) => JSON.parse(readFileSync(join(dir, part, name), 'utf8'))
    const all = () =>
      ['new', 'cur'].flatMap((part) => readdirSync(join(dir, part)).map((name) => read(part, name)))
    const holds = (word) =>
      all()
        .filter(({ body }) => body.split(' ').includes(word))
        .slice(-50).length
    const blocks = threadBlocks(n)
    return {
      inbox: () =>
        readdirSync(join(dir, 'new'))
          .sort()
          .slice(0, 50)
          .map((name) => read('new', name)).length,
      count: () => readdirSync(join(dir, 'new')).length,
      rare: (k) => holds(rareWords[k % rareWords.length]),
      common: () => holds(commonWord),
      thread: (k) => all().filter(({ thread }) => thread === threadName(blocks[k % blocks.length])).length,
      close: () => {},
    }
  },
}
