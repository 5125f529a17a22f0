import { mkdirSync } from 'node:fs'
import { leftUnread, messageAt, reader, threadBlocks, threadName } from '../lib/corpus.mjs'
import { missingPackage } from '../lib/packages.mjs'

/** swarm-mail through its adapter; its inbox tool hands out five messages at most. @type {import('./index.mjs').Reader} */
export const swarmMail = {
  name: 'swarm-mail',
  title: 'swarm-mail',
  largest: 1_000,
  limit: 'it takes too long to fill',
  missing: () => missingPackage('swarm-mail'),

  async fill(dir, n, shape, onProgress) {
    mkdirSync(dir, { recursive: true })
    const { adapter, close } = await open(dir)
    for (let i = 0; i < n; i++) {
      const { from, subject, body, priority, thread } = messageAt(i, n)
      await adapter.sendMessage(dir, from, [reader], subject, body, {
        threadId: thread,
        importance: priority,
      })
      if (i % 100 === 0) onProgress(i / n)
    }
    if (shape === 'handled') {
      const unread = await adapter.getInbox(dir, reader, { limit: n, unreadOnly: true })
      for (const { id } of unread.slice(0, n - leftUnread)) await adapter.markMessageAsRead(dir, id, reader)
    }
    await close()
  },

  async open(dir, n) {
    const { adapter, close } = await open(dir)
    const blocks = threadBlocks(n)
    return {
      inbox: async () =>
        (await adapter.getInbox(dir, reader, { limit: 50, unreadOnly: true, includeBodies: true })).length,
      count: async () =>
        (await adapter.getInbox(dir, reader, { limit: n, unreadOnly: true, includeBodies: false })).length,
      thread: async (k) =>
        (await adapter.getThreadMessages(dir, threadName(blocks[k % blocks.length]))).length,
      close,
    }
  },
}

async function open(dir) {
  process.env['HOME'] = dir
  const { getSwarmMailLibSQL, closeAllSwarmMailLibSQL } = await import('swarm-mail')
  return { adapter: await getSwarmMailLibSQL(dir), close: () => closeAllSwarmMailLibSQL() }
}
