import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { upTo } from '../helpers/drafts.ts'
import { startScript, untilStopped } from '../helpers/processes.ts'
import { rowsOf } from '../helpers/rows.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

const rebuilder = new URL('rebuilder.mjs', import.meta.url)
const opener = new URL('opener.mjs', import.meta.url)

/** A closed space with a journal of several portions, and no index. */
async function withoutIndex(): Promise<{ dir: string; rows: ReturnType<typeof rowsOf> }> {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  for (const n of upTo(14)) await ada.send({ to: 'ada', subject: `${n}`, body: 'x'.repeat(1_000_000) })
  await ada.count()
  await space.close()
  const rows = rowsOf(space.dir)
  rmSync(join(space.dir, 'index.db'))
  return { dir: space.dir, rows }
}

describe('building the index', () => {
  it('goes on where a process was killed in the middle of it', async () => {
    const { dir, rows } = await withoutIndex()
    const running = startScript(rebuilder, [dir])
    const reached = Number((await running.line(/^at /)).slice('at '.length))
    await untilStopped(running.process.pid!)
    running.kill('SIGKILL')
    await running.exit

    const progress: number[] = []
    const space = await tempSpace({ dir, onProgress: (seq) => progress.push(seq) })
    await space.agents()
    expect(reached).toBeGreaterThan(1)
    expect(progress[0]).toBeGreaterThan(reached)
    expect(rowsOf(dir)).toEqual(rows)
  })

  it('is taken over by another process while the first is stopped in the middle of it', async () => {
    const { dir, rows } = await withoutIndex()
    const running = startScript(rebuilder, [dir])
    await running.line(/^at /)
    await untilStopped(running.process.pid!)
    const space = await tempSpace({ dir })
    expect((await (await space.mailbox('ada')).count()).unread).toBe(14)
    expect(rowsOf(dir)).toEqual(rows)
  })

  it('reports how far it is, and can be called off', async () => {
    const { dir } = await withoutIndex()
    const space = await tempSpace({ dir })
    const progress: number[] = []
    const stop = new AbortController()
    const onProgress = (seq: number) => {
      progress.push(seq)
      stop.abort()
    }
    await expect(space.rebuild({ onProgress, signal: stop.signal })).rejects.toThrow()
    expect(progress).toHaveLength(1)
    expect((await (await space.mailbox('ada')).count()).unread).toBe(14)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })
})

describe('a space that is only being made', () => {
  it('is opened by two processes at once, twenty times, and neither fails', async () => {
    const [left, right] = ['left', 'right'].map((name) => startScript(opener, [name])) as [
      ReturnType<typeof startScript>,
      ReturnType<typeof startScript>,
    ]
    await Promise.all([left.line('ready'), right.line('ready')])
    const root = tempDir()
    for (const n of upTo(20)) {
      const dir = join(root, `${n}`)
      for (const process of [left, right]) process.tell(dir)
      const answers = await Promise.all(
        [left, right].map((process) => process.line(new RegExp(`^done ${dir} `))),
      )
      const [space] = answers.map((answer) => answer.split(' ')[2])
      expect(answers).toEqual([`done ${dir} ${space} 1`, `done ${dir} ${space} 1`])
      const opened = await tempSpace({ dir })
      expect(opened.id).toBe(space)
      expect(await opened.verify({ deep: true })).toMatchObject({ problems: [], torn: [], messages: 2 })
    }
  })
})
