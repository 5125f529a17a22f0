/** A process that rebuilds an index, or that holds a space open and serves from it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from './child.mjs'
import { commonWord, rareWords, reader } from './corpus.mjs'
import { loadLibrary } from './library.mjs'
import { peakMemory } from './machine.mjs'

serve({
  /** Opening a space without an index builds the tables and nothing else; a rebuild makes the words, too. */
  async rebuild({ dir }, note) {
    const { openSpace } = await loadLibrary()
    rmSync(join(dir, 'index.db'))
    const opened = performance.now()
    const space = await openSpace({ dir, onProgress: (seq) => note(seq / 2) })
    const tablesMs = performance.now() - opened
    const entries = await space.lastSeq()
    const started = performance.now()
    await space.rebuild({ onProgress: (seq) => note((entries + seq) / 2) })
    const totalMs = performance.now() - started
    await space.close()
    return { entries, tablesMs, totalMs, peak: peakMemory() }
  },

  async hold({ dir, calls }) {
    const { openSpace } = await loadLibrary()
    const started = performance.now()
    const space = await openSpace({ dir })
    const openMs = performance.now() - started
    const rssOpen = process.memoryUsage().rss
    const ada = await space.mailbox(reader, { join: false })
    for (let i = 0; i < calls; i++) {
      const { messages } = await ada.inbox()
      await ada.count()
      await ada.search(i % 2 ? commonWord : rareWords[i % rareWords.length])
      if (messages.length > 0) await ada.thread(messages[i % messages.length].id)
    }
    const rss = process.memoryUsage().rss
    await space.close()
    return { openMs, rssOpen, rss, peak: peakMemory() }
  },
})
