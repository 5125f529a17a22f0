import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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

/** One file with one array; every question reads and parses all of it. @type {import('./index.mjs').Reader} */
export const jsonArray = {
  name: 'json-array',
  title: 'JSON array',
  largest: 100_000,
  limit: 'a million messages are longer than the longest string of Node',

  async fill(dir, n, shape) {
    mkdirSync(dir, { recursive: true })
    const messages = Array.from({ length: n }, (_, i) => {
      const note = messageAt(i, n)
      const read = shape === 'handled' && i < n - leftUnread
      return envelope(note, { from: note.from, thread: note.thread, read })
    })
    writeFileSync(join(dir, 'inbox.json'), JSON.stringify(messages))
  },

  async open(dir, n) {
    const all = () => JSON.parse(readFileSync(join(dir, 'inbox.json'), 'utf8'))
    const unread = () => all().filter(({ read }) => !read)
    const holds = (word) =>
      all()
        .filter(({ body }) => body.split(' ').includes(word))
        .slice(-50).length
    const blocks = threadBlocks(n)
    return {
      inbox: () =>
        unread()
          .sort((a, b) => rankOf(b.priority) - rankOf(a.priority))
          .slice(0, 50).length,
      count: () => unread().length,
      rare: (k) => holds(rareWords[k % rareWords.length]),
      common: () => holds(commonWord),
      thread: (k) => all().filter(({ thread }) => thread === threadName(blocks[k % blocks.length])).length,
      close: () => {},
    }
  },
}
