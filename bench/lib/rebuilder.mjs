/** A process that rebuilds an index, or that holds a space open and serves from it. */
import { serve } from './child.mjs'
import { commonWord, rareWords, reader } from './corpus.mjs'
import { loadLibrary } from './library.mjs'
import { peakMemory } from './machine.mjs'

serve({
  /**
   * The rebuild goes over the journal twice: first for the tables, then for the words. Progress falls
   * back to the start in between, which tells us when.
   */
  async rebuild({ dir }, note) {
    const { openSpace } = await loadLibrary()
    const space = await openSpace({ dir })
    const before = process.memoryUsage().rss
    const started = performance.now()
    let tablesMs
    let last = { seq: 0, at: started }
    await space.rebuild({
      onProgress(seq) {
        if (seq < last.seq) tablesMs = last.at - started
        last = { seq, at: performance.now() }
        note(seq)
      },
    })
    const totalMs = performance.now() - started
    await space.close()
    return { entries: last.seq, tablesMs, totalMs, rssBefore: before, peak: peakMemory() }
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
