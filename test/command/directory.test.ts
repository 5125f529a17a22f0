import { describe, expect, test } from 'vitest'
import { Directory } from '../../src/model/directory.ts'
import type { Entry } from '../../src/model/entry.ts'
import { agent, joined, moved, sent } from '../helpers/samples.ts'
import { hour, iso, minute, now } from './fake-view.ts'

const at = (entry: Entry, ms: number): Entry => ({ ...entry, at: iso(ms) })

function fold(countsSends: boolean, ...entries: Entry[]): Directory {
  const directory = new Directory({ countsSends })
  for (const entry of entries) directory.fold(entry)
  return directory
}

describe('what somebody has sent lately', () => {
  test('is a window that slides', () => {
    const directory = fold(
      true,
      at(sent(1), now),
      at(sent(2), now + 30_000),
      at(sent(3, { from: 'ada' }), now + 30_000),
    )
    const counts = [0, 30_000, minute - 1, minute, 90_000 - 1, 90_000].map((ms) =>
      directory.sentLately('bob', now + ms),
    )
    expect(counts).toEqual([2, 2, 2, 1, 1, 0])
    expect(directory.sentLately('ada', now + minute)).toBe(1)
    expect(directory.sentLately('cy', now)).toBe(0)
  })

  test('is forgotten where nobody limits it', () => {
    expect(fold(false, at(sent(1), now)).sentLately('bob', now)).toBe(0)
  })

  test('counts an entry that is folded twice once', () => {
    const entry = at(sent(1), now)
    expect(fold(true, entry, entry).sentLately('bob', now)).toBe(1)
  })

  test('takes no more room than a minute of it', () => {
    const directory = new Directory({ countsSends: true })
    for (let n = 0; n < 10_000; n++) directory.noteSend('bob', now + n * 1_000)
    expect(directory.sends.get('bob')!.length).toBeLessThan(2_000)
  })
})

describe('when an agent was last heard of', () => {
  const ada = agent('ada', { lastSeenAt: iso(now) })
  const seenAfter = (...entries: Entry[]) => fold(false, ...entries).seenAt(ada)

  test('is when it joined', () => {
    expect(seenAfter(at(joined(1, ada), now))).toBe(now)
  })

  test('is when it said something', () => {
    expect(seenAfter(at(joined(1, ada), now), at(sent(2, { from: 'ada' }), now + hour))).toBe(now + hour)
  })

  test('is when it did something with its mail', () => {
    expect(seenAfter(at(joined(1, ada), now), at(moved(2, { seq: 1, state: 'shown' }), now + hour))).toBe(
      now + hour,
    )
  })

  test('is not when somebody wrote to it', () => {
    expect(seenAfter(at(joined(1, ada), now), at(sent(2, { to: ['ada'] }), now + hour))).toBe(now)
  })

  test('is not when the system did something with its mail or with it', () => {
    const byItself = { ...at(moved(2, { seq: 1, state: 'expired' }), now + hour), by: 'system' } as Entry
    const found = { ...at(joined(3, ada), now + hour), by: 'system' } as Entry
    expect(seenAfter(at(joined(1, ada), now), byItself, found)).toBe(now)
  })
})
