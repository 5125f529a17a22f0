import { readFileSync, writeFileSync } from 'node:fs'
import {
  commonWord,
  leftUnread,
  messageAt,
  rareWords,
  reader,
  senders,
  threadBlocks,
} from '../lib/corpus.mjs'
import { loadLibrary } from '../lib/library.mjs'

const dayMs = 86_400_000
const probesOf = (dir) => `${dir}.probes.json`
/** Sent and worked off in portions, so that the list of what is still to be done stays short. */
const portion = 20_000
const inFlight = 512

/** Ourselves. @type {import('./index.mjs').Reader} */
export const mailbox = {
  name: 'mailbox',
  title: 'agent-mailbox',
  largest: Number.POSITIVE_INFINITY,

  /** Through the public API alone; only the waiting for the disk is left out. */
  async fill(dir, n, shape, onProgress) {
    const { openSpace } = await loadLibrary()
    const space = await openSpace({ dir, settings: { durability: 'os' } })
    const ada = await space.mailbox(reader)
    const boxes = new Map()
    for (const name of senders) boxes.set(name, await space.mailbox(name))
    const probed = new Set(threadBlocks(n).map((block) => block * 100 + 50))
    const probes = []
    for (let start = 0; start < n; start += portion) {
      const end = Math.min(n, start + portion)
      const ids = new Array(end - start)
      await inParallel(start, end, async (i) => {
        const { from, subject, body, priority, thread } = messageAt(i, n)
        const sent = await boxes.get(from).send({
          to: reader,
          subject,
          body,
          priority,
          ...(thread === undefined ? {} : { threadId: thread }),
        })
        ids[i - start] = sent.id
        if (probed.has(i)) probes.push(sent.id)
      })
      if (shape === 'handled') {
        await inParallel(start, Math.min(end, n - leftUnread), async (i) => {
          await ada.done(ids[i - start])
        })
      }
      onProgress(end / n)
    }
    // The first search fills the word index; that is part of building, not of asking.
    await ada.search(commonWord, { limit: 1 })
    await space.close()
    writeFileSync(probesOf(dir), JSON.stringify(probes))
  },

  async open(dir, _n, shape) {
    const { openSpace } = await loadLibrary()
    const probes = JSON.parse(readFileSync(probesOf(dir), 'utf8'))
    // Two days later, all that was not read has expired.
    const later = shape === 'expired' ? { now: () => Date.now() + 2 * dayMs } : {}
    const space = await openSpace({ dir, ...later })
    const ada = await space.mailbox(reader, { join: false })
    return {
      inbox: async () => (await ada.inbox()).messages.length,
      count: async () => (await ada.count()).unread,
      rare: async (k) => (await ada.search(rareWords[k % rareWords.length])).messages.length,
      common: async () => (await ada.search(commonWord)).messages.length,
      thread: async (k) => (await ada.thread(probes[k % probes.length])).length,
      close: () => space.close(),
    }
  },
}

async function inParallel(start, end, work) {
  let next = start
  const loop = async () => {
    while (next < end) await work(next++)
  }
  await Promise.all(Array.from({ length: inFlight }, loop))
}
