import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { LineScrub } from '../../src/journal/file/scrub.ts'
import type { Draft } from '../../src/model/entry.ts'
import { chain, header, numbered, usualLines } from '../helpers/hand-made.ts'
import { withOwnSum } from '../helpers/segments.ts'

const lines = usualLines(2)
const [one, two, three, four] = lines.slice(4).map(({ text }) => text) as [string, string, string, string]
const before = lines[3]!.sum
const changed = (text: string) => text.replace('words', 'noise')
const fragment = '{"seq":9,"at":"20'
const sealOf = (text: string, offset: number): Draft => ({
  ...{ kind: 'torn', offset, bytes: text.length },
  digest: hash('sha256', text, 'hex'),
})
const ended = (...texts: string[]) => texts.map((text) => `${text}\n`).join('')
const offsetOf = (...texts: string[]) => ended(...texts).length

/** Reads a segment, in parts of a size, and tells where it is wrong. */
function scrub(text: string, { sum = before, part = text.length || 1 } = {}): number[] {
  const found = new LineScrub(sum)
  for (let at = 0; at < text.length; at += part) found.take(Buffer.from(text.slice(at, at + part), 'latin1'))
  found.end()
  return found.wrong
}

describe('a closed segment that is read', () => {
  it('is sound, whatever the parts are that it is read in', () => {
    const text = ended(one, two, three, four)
    for (const part of [1, 7, one.length, one.length + 1, one.length + 2, text.length])
      expect(scrub(text, { part })).toEqual([])
    const found = new LineScrub(before)
    found.take(Buffer.from(text))
    expect(found.sum).toBe(lines[7]!.sum)
    expect(new LineScrub('known').sum).toBe('known')
  })

  it('has a line that was changed, at the same place in whatever parts', () => {
    const text = ended(one, two, changed(three), four)
    for (const part of [1, 100, text.length]) expect(scrub(text, { part })).toEqual([offsetOf(one, two)])
    expect(scrub(ended(changed(two), changed(three), four))).toEqual([0, offsetOf(two)])
  })

  it('has lines that do not follow', () => {
    expect(scrub(ended(one, two, four))).toEqual([offsetOf(one, two)])
    expect(scrub(ended(one, withOwnSum(changed(two)), three, four))).toEqual([offsetOf(one, two)])
    expect(scrub(ended(two, three), { sum: lines[4]!.sum })).toEqual([])
    expect(scrub(ended(two, three))).toEqual([0])
    // Without the line before, nothing speaks against the first one.
    expect(scrub(ended(two, three), { sum: '' })).toEqual([])
    expect(scrub(ended(two, four), { sum: '' })).toEqual([offsetOf(two)])
  })

  it('is not blamed for its header, which may follow a segment that is damaged', () => {
    expect(scrub(ended(one, two), { sum: 'another' })).toEqual([])
    expect(scrub(ended(one, two, three), { sum: 'another' })).toEqual([])
  })

  it('has writes that were cut off, and sealed', () => {
    const start = ended(one, two)
    const goOn = (...drafts: Draft[]) => chain(drafts, lines[5]).map(({ text }) => text)
    const sealed = (text: string, offset = start.length) =>
      ended(one, two, text, ...goOn(sealOf(text, offset), numbered(8)))
    expect(scrub(sealed(fragment))).toEqual([])
    expect(scrub(sealed(`${fragment}\n{"se`))).toEqual([])
    // The seal is about other bytes.
    expect(scrub(sealed(fragment, start.length + 1))).toEqual([start.length])
    expect(scrub(sealed(fragment, start.length - fragment.length))).toEqual([start.length])
    expect(scrub(ended(one, two, '#', fragment, ...goOn(sealOf(fragment, start.length + 2))))).toEqual([
      start.length,
    ])
    // A message that speaks of seals is none.
    const talk = { ...numbered(7), exclude: ['"kind":"torn"'] } as Draft
    expect(scrub(ended(one, two, fragment, ...goOn(talk)))).toEqual([start.length])
  })

  it('has a seal behind its header', () => {
    const [head, seal] = chain([header(), sealOf(fragment, 0)], lines[3]).map(({ text }) => text)
    expect(scrub(ended(fragment, head!, seal!))).toEqual([])
    const [, message] = chain([header(), numbered(6)], lines[3]).map(({ text }) => text)
    expect(scrub(ended(fragment, head!, message!))).toEqual([0])
  })

  it('ends in a write that failed, but not in what was a line', () => {
    const text = ended(one, two)
    expect(scrub(text + fragment)).toEqual([])
    expect(scrub(ended(one, two, fragment))).toEqual([])
    expect(scrub(ended(one, two, fragment, changed(three)))).toEqual([offsetOf(one, two, fragment)])
    expect(scrub(text + changed(three))).toEqual([])
    expect(scrub('')).toEqual([])
  })
})
