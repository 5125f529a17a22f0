import { describe, expect, it } from 'vitest'
import type { Gist } from '../../src/model/entry.ts'
import {
  appendMessage,
  gistOf,
  messageDraft,
  readAll,
  seqsOf,
  subjectOf,
  subjectsIn,
  typeOf,
  upTo,
} from '../helpers/drafts.ts'
import { verifyDir } from '../helpers/segments.ts'
import { tempDir, tempJournal } from '../helpers/temp.ts'

function twoJournals(segmentBytes?: number) {
  const dir = tempDir()
  const options = { dir, pollMs: 20, ...(segmentBytes === undefined ? {} : { segmentBytes }) }
  return { dir, left: tempJournal(options), right: tempJournal(options) }
}

describe('two journals on one directory', () => {
  it('are the same space', () => {
    const { left, right } = twoJournals()
    expect(right.space).toBe(left.space)
  })

  it('append in turn, each behind the other', async () => {
    const { dir, left, right } = twoJournals()
    for (const n of upTo(10)) {
      await appendMessage(left, { subject: `left ${n}` })
      await appendMessage(right, { subject: `right ${n}` })
    }
    const expected = upTo(10).flatMap((n) => [`left ${n}`, `right ${n}`])
    expect(await subjectsIn(left)).toEqual(expected)
    expect(await subjectsIn(right)).toEqual(expected)
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it.each([1_000, 16_000_000])(
    'append at once without a gap or a double, with segments of %i bytes',
    async (size) => {
      const { dir, left, right } = twoJournals(size)
      const calls = upTo(100).flatMap((n) => [
        appendMessage(left, { subject: `left ${n}` }),
        appendMessage(right, { subject: `right ${n}` }),
      ])
      const placed = await Promise.all(calls)
      const all = (await readAll(left)).map(({ entry }) => entry)
      expect(seqsOf(all)).toEqual(upTo(all.length))
      expect(await subjectsIn(right)).toHaveLength(200)
      for (const { entry, place } of placed) expect(right.at(place)).toEqual(entry)
      expect((await verifyDir(dir)).problems).toEqual([])
    },
  )

  it('show each of their decisions what the other appended, exactly once', async () => {
    const { left, right } = twoJournals()
    const seen = { left: [] as Gist[], right: [] as Gist[] }
    const append = (side: 'left' | 'right', n: number) =>
      (side === 'left' ? left : right).append((tail) => {
        seen[side].push(...tail.map(gistOf))
        return [messageDraft({ subject: `${side} ${n}` })]
      })
    await Promise.all(upTo(60).flatMap((n) => [append('left', n), append('right', n)]))
    for (const side of ['left', 'right'] as const) {
      await (side === 'left' ? left : right).append((tail) => {
        seen[side].push(...tail.map(gistOf))
        return []
      })
      expect(seen[side]).toEqual((await readAll(left)).map(({ entry }) => gistOf(entry)))
    }
  })

  it('let exactly one of two rivals win', async () => {
    const { left, right } = twoJournals()
    const known = { left: new Set<string>(), right: new Set<string>() }
    const claim = (side: 'left' | 'right', prize: string) =>
      (side === 'left' ? left : right).append((tail) => {
        for (const entry of tail) known[side].add(typeOf(entry) ?? '')
        return known[side].has(prize) ? [] : [messageDraft({ type: prize })]
      })
    const results = await Promise.all(
      upTo(50).map((n) => Promise.all([claim('left', `prize ${n}`), claim('right', `prize ${n}`)])),
    )
    for (const [one, other] of results) expect(one!.length + other!.length).toBe(1)
    expect(await subjectsIn(left)).toHaveLength(50)
  })

  it('wake one another', async () => {
    const { left, right } = twoJournals()
    const woken = new Promise<void>((resolve) => void right.onWake(resolve))
    await appendMessage(left)
    await woken
    expect(right.read(right.locate(0)).entries.map(({ entry }) => subjectOf(entry))).toContain('hello')
  })

  it('go on when one of them is closed', async () => {
    const { left, right } = twoJournals()
    await appendMessage(left, { subject: 'left' })
    await left.close()
    await appendMessage(right, { subject: 'right' })
    expect(await subjectsIn(right)).toEqual(['left', 'right'])
  })
})
