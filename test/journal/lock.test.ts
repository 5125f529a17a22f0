import { describe, expect, it } from 'vitest'
import { appendMessage, subjectsIn } from '../helpers/drafts.ts'
import { type Running, runScript, startScript, untilStopped } from '../helpers/processes.ts'
import { verifyDir } from '../helpers/segments.ts'
import { tempDir, tempJournal } from '../helpers/temp.ts'

const holder = new URL('holder.mjs', import.meta.url)
const rival = new URL('rival.mjs', import.meta.url)

/** A process that was stopped while it had the right to append. */
async function stoppedHolder(dir: string): Promise<Running> {
  const running = startScript(holder, [dir])
  await running.line('holding')
  await untilStopped(running.process.pid!)
  return running
}

describe('the right to append', () => {
  it('is not taken from a holder that is merely stopped', async () => {
    const dir = tempDir()
    const stopped = await stoppedHolder(dir)
    const journal = tempJournal({ dir, lockTimeoutMs: 300 })
    await expect(appendMessage(journal, { subject: 'too early' })).rejects.toMatchObject({ code: 'timeout' })

    stopped.kill('SIGCONT')
    await stopped.line('released')
    await appendMessage(journal, { from: 'bob', subject: 'in time' })
    expect(await subjectsIn(journal)).toEqual(['from the holder', 'in time'])
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('tells whoever waited in vain what to look for', async () => {
    const dir = tempDir()
    await stoppedHolder(dir)
    const journal = tempJournal({ dir, lockTimeoutMs: 100 })
    await expect(appendMessage(journal)).rejects.toMatchObject({ hint: expect.stringContaining('stopped') })
  })

  it('is free as soon as its holder was killed, and whoever waits gets it', async () => {
    const dir = tempDir()
    const stopped = await stoppedHolder(dir)
    const journal = tempJournal({ dir })
    let done = false
    const waiting = appendMessage(journal, { subject: 'after the killed' }).then(() => (done = true))
    await new Promise(setImmediate)
    expect(done).toBe(false)
    stopped.kill('SIGKILL')
    await waiting
    expect(await subjectsIn(journal)).toEqual(['after the killed'])
  })

  it('keeps other processes out, and lets them in again', () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    const inside = journal.withLock(() => runScript(rival, [dir, 'inside', '200']).stdout)
    const outside = runScript(rival, [dir, 'outside', '5000']).stdout
    expect({ inside, outside }).toEqual({ inside: 'timeout\n', outside: 'sent\n' })
  })

  it('is not lost when another journal of the same process is closed', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    const other = tempJournal({ dir })
    let closed = Promise.resolve()
    const inside = journal.withLock(() => {
      // Closing any descriptor of a file drops all POSIX locks the process has on it; SQLite must see to that.
      closed = other.close()
      return runScript(rival, [dir, 'inside', '200']).stdout
    })
    await closed
    expect(inside).toBe('timeout\n')
  })

  it('is not lost when another journal of the same process is opened and closed within it', () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    const inside = journal.withLock(() => {
      void tempJournal({ dir }).close()
      return runScript(rival, [dir, 'inside', '200']).stdout
    })
    expect(inside).toBe('timeout\n')
  })
})
