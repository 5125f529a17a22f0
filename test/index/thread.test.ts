import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Finished, runScript } from '../helpers/processes.ts'
import { removeTree } from '../helpers/remove-tree.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

const flood = new URL('flood.mjs', import.meta.url)

/** A space that was sent more than its index took, and how that went; each test gets a copy. */
const flooded = mkdtempSync(join(tmpdir(), 'mailbox-test-'))
let sending: Finished

beforeAll(() => {
  sending = runScript(flood, [flooded, 'send'], { timeoutMs: 60_000 })
})
afterAll(() => removeTree(flooded))

function copyOfFlooded(): string {
  const dir = tempDir()
  cpSync(flooded, dir, { recursive: true })
  return dir
}

/** These run the built library: the thread is a file of its own beside it. */
describe('an index that falls far behind', () => {
  it('is brought up on a thread, and equals one that was not', async () => {
    const { status, stdout, stderr } = sending
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const [, sent, indexed] = /^sent (\d+), indexed (\d+)$/m.exec(stdout)!.map(Number)
    // The sender never paused and never asked a question: what is in the tables came from the thread.
    expect(indexed).toBeGreaterThan(2_000)
    const space = await tempSpace({ dir: copyOfFlooded() })
    expect((await space.verify({ deep: true })).problems).toEqual([])
    expect((await (await space.mailbox('bob')).count()).unread).toBe(sent)
  })

  it('and the words of all mail are rebuilt side by side, with one count of how far both are', async () => {
    const dir = copyOfFlooded()
    const { status, stdout, stderr } = runScript(flood, [dir, 'rebuild'], { timeoutMs: 60_000 })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const progress = stdout.match(/^at \d+$/gm)!.map((line) => Number(line.slice(3)))
    expect(progress).toEqual(progress.toSorted((a, b) => a - b))
    expect(stdout).toMatch(/^found 30$/m)
    const space = await tempSpace({ dir })
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('leaves nothing running or locked when the space is closed in the middle of it', () => {
    const dir = tempDir()
    const closing = runScript(flood, [dir, 'close'], { timeoutMs: 60_000 })
    expect({ status: closing.status, stderr: closing.stderr }).toEqual({ status: 0, stderr: '' })
    expect(runScript(flood, [dir, 'rebuild'], { timeoutMs: 60_000 }).status).toBe(0)
  })
})
