import { describe, expect, it } from 'vitest'
import { type Cursor, type Journal, startCursor } from '../../src/journal/journal.ts'
import type { Draft, Gist } from '../../src/model/entry.ts'
import { messageLimits } from '../../src/model/message.ts'
import {
  agentDraft,
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

/**
 * What every journal promises, whatever it is made of. `open` gives a journal of its own to each test and
 * sees to it that it is closed and removed afterwards; a test may close it before that.
 */
export function journalContract(name: string, open: () => Journal | Promise<Journal>): void {
  describe(`${name}: appending`, () => {
    it('gives back what was appended, in order, with seqs that rise by one', async () => {
      const journal = await open()
      const before = (await readAll(journal)).length
      for (const subject of ['one', 'two', 'three']) await appendMessage(journal, { subject })
      const placed = await readAll(journal)
      expect(await subjectsIn(journal)).toEqual(['one', 'two', 'three'])
      expect(placed.map(({ entry }) => entry.seq)).toEqual(upTo(before + 3))
    })

    it('answers with the entries as they will be read', async () => {
      const journal = await open()
      const payload = { nested: [{ deep: 'Ω' }, 1.5, null, false], text: 'line\nbreak' }
      const appended = await journal.append(() => [messageDraft({ payload }), agentDraft()])
      const read = (await readAll(journal)).slice(-2)
      expect(appended).toEqual(read)
    })

    it('keeps the entries of one call together, in order, among many callers', async () => {
      const journal = await open()
      const calls = upTo(30).map((call) =>
        journal.append(() => ['a', 'b', 'c'].map((part) => messageDraft({ subject: `${call}${part}` }))),
      )
      for (const placed of await Promise.all(calls)) {
        const first = placed[0]!.entry.seq
        expect(placed.map(({ entry }) => entry.seq)).toEqual([first, first + 1, first + 2])
        expect(placed.map(({ entry }) => subjectOf(entry)!.slice(-1))).toEqual(['a', 'b', 'c'])
      }
    })

    it('numbers 200 concurrent appends without a gap', async () => {
      const journal = await open()
      const before = (await readAll(journal)).length
      const calls = upTo(200).map((n) => appendMessage(journal, { subject: `${n}` }))
      const seqs = new Set((await Promise.all(calls)).map(({ entry }) => entry.seq))
      expect(seqs.size).toBe(200)
      const found = (await readAll(journal)).map(({ entry }) => entry)
      expect(seqsOf(found)).toEqual(upTo(found.length))
      expect(found.slice(before).filter(({ seq, kind }) => kind === 'message' && !seqs.has(seq))).toEqual([])
    })

    it('appends nothing when the decision is that nothing is to be done', async () => {
      const journal = await open()
      const before = await readAll(journal)
      expect(await journal.append(() => [])).toEqual([])
      expect(await readAll(journal)).toEqual(before)
    })
  })

  describe(`${name}: deciding`, () => {
    it('shows decisions every entry before them exactly once', async () => {
      const journal = await open()
      const seen: Gist[] = []
      const decide = (subject: string) => (tail: readonly Gist[]) => {
        seen.push(...tail.map(gistOf))
        return [messageDraft({ subject })]
      }
      await journal.append(decide('alone'))
      await Promise.all(upTo(20).map((n) => journal.append(decide(`${n}`))))
      await journal.append((tail) => {
        seen.push(...tail.map(gistOf))
        return []
      })
      // The journal's own notes (a new segment) are no news to a decision.
      const isNews = ({ kind }: Gist) => kind !== 'segment'
      const all = (await readAll(journal)).map(({ entry }) => gistOf(entry))
      expect(seen.filter(isNews)).toEqual(all.filter(isNews))
    })

    it('shows the tail again to nobody after a decision was refused', async () => {
      const journal = await open()
      await appendMessage(journal, { subject: 'before' })
      let refused: number[] = []
      const refusal = journal.append((tail) => {
        refused = seqsOf(tail)
        throw new Error('no')
      })
      await expect(refusal).rejects.toThrow('no')
      let next: number[] = []
      await journal.append((tail) => {
        next = seqsOf(tail)
        return []
      })
      expect(refused).toHaveLength(1)
      expect(next).toEqual([])
    })

    it('appends nothing of a decision that throws, and harms nobody in the same batch', async () => {
      const journal = await open()
      const no = new Error('no')
      let seenByLast: (string | undefined)[] = []
      const calls = [
        journal.append(() => [messageDraft({ type: 'first', subject: 'first' })]),
        journal.append(() => {
          throw no
        }),
        journal.append((tail) => {
          seenByLast = tail.map(typeOf)
          return [messageDraft({ subject: 'last' })]
        }),
      ]
      const [first, refused, last] = await Promise.allSettled(calls)
      expect(first).toMatchObject({ status: 'fulfilled' })
      expect(refused).toEqual({ status: 'rejected', reason: no })
      expect(last).toMatchObject({ status: 'fulfilled' })
      expect(await subjectsIn(journal)).toEqual(['first', 'last'])
      expect((await readAll(journal)).map(({ entry }) => entry.seq)).toEqual(
        upTo((await readAll(journal)).length),
      )
      // Whoever decided next was told of the first; that it then threw does not take it back.
      expect(seenByLast).toEqual([])
    })

    it('appends nothing of a call of which one entry is too long', async () => {
      const journal = await open()
      const body = 'x'.repeat(messageLimits.lineBytes)
      const call = journal.append(() => [messageDraft({ subject: 'fits' }), messageDraft({ body })])
      const after = appendMessage(journal, { subject: 'after' })
      await expect(call).rejects.toMatchObject({ code: 'over_limit' })
      await after
      expect(await subjectsIn(journal)).toEqual(['after'])
    })

    it('refuses a draft that it could not read back', async () => {
      const journal = await open()
      const before = await readAll(journal)
      const broken = agentDraft({ state: 'asleep' as 'idle' })
      await expect(journal.append(() => [broken])).rejects.toThrow()
      expect(await readAll(journal)).toEqual(before)
      const { entry } = await appendMessage(journal)
      expect(entry.seq).toBe(before.length + 1)
    })

    it('lets a settled decision read everything before it, even what came in the same batch', async () => {
      const journal = await open()
      let readable: (string | undefined)[] = []
      const first = appendMessage(journal, { subject: 'first' })
      const settled = journal.append(
        () => {
          readable = journal.read(startCursor).entries.map(({ entry }) => subjectOf(entry))
          return [messageDraft({ subject: 'settled' })]
        },
        { settled: true },
      )
      await Promise.all([first, settled])
      expect(readable).toContain('first')
      expect(await subjectsIn(journal)).toEqual(['first', 'settled'])
    })

    it('starts the next tail after the cursor it was told to seek', async () => {
      const journal = await open()
      await appendMessage(journal, { subject: 'one' })
      await journal.pull()
      const { cursor } = journal.read(startCursor)
      await appendMessage(journal, { type: 'two', subject: 'two' })
      await appendMessage(journal, { type: 'three', subject: 'three' })
      expect(journal.seek(cursor)).toBe(true)
      const tails: (string | undefined)[] = []
      await journal.append((tail) => {
        tails.push(...tail.map(typeOf))
        return [messageDraft({ subject: 'four' })]
      })
      expect(tails).toEqual(['two', 'three'])
      expect(await subjectsIn(journal)).toEqual(['one', 'two', 'three', 'four'])
    })

    it('stays in its epoch while nothing that was decided is lost', async () => {
      const journal = await open()
      const { epoch } = journal
      await appendMessage(journal)
      await journal
        .append(() => {
          throw new Error('no')
        })
        .catch(() => {})
      expect(journal.epoch).toBe(epoch)
    })
  })

  describe(`${name}: reading`, () => {
    async function filled(): Promise<Journal> {
      const journal = await open()
      const drafts: Draft[] = upTo(40).map((n) => messageDraft({ subject: `${n}`, body: 'x'.repeat(n * 17) }))
      await journal.append(() => drafts)
      await journal.pull()
      return journal
    }

    it('reads the same in small portions as at once', async () => {
      const journal = await filled()
      const whole = await readAll(journal)
      for (const portion of [1, 100, 1_000, 5_000]) expect(await readAll(journal, portion)).toEqual(whole)
    })

    it('reads nothing at the end, and goes on from there when something came', async () => {
      const journal = await filled()
      const { cursor } = journal.read(startCursor)
      expect(journal.read(cursor)).toEqual({ entries: [], damaged: [], cursor })
      await appendMessage(journal, { subject: 'late' })
      await journal.pull()
      const found = journal.read(cursor).entries.map(({ entry }) => entry)
      expect(found.flatMap((entry) => subjectOf(entry) ?? [])).toEqual(['late'])
      expect(found[0]!.seq).toBe(cursor.seq + 1)
    })

    it('finds a cursor from which every entry after a seq is read', async () => {
      const journal = await filled()
      const whole = await readAll(journal)
      for (const seq of [0, ...whole.map(({ entry }) => entry.seq)]) {
        const found = journal.read(journal.locate(seq)).entries.filter(({ entry }) => entry.seq > seq)
        expect(found).toEqual(whole.filter(({ entry }) => entry.seq > seq))
      }
    })

    it('knows the end when it is there', async () => {
      const journal = await filled()
      expect(journal.atEnd(startCursor)).toBe(false)
      const { cursor } = journal.read(startCursor)
      expect(journal.atEnd(cursor)).toBe(true)
      await appendMessage(journal)
      await journal.pull()
      expect(journal.atEnd(cursor)).toBe(false)
    })

    it('tells its own cursors from those of another journal', async () => {
      const journal = await filled()
      const cursors: Cursor[] = [startCursor]
      for (
        let read = journal.read(startCursor, 1);
        read.entries.length > 0;
        read = journal.read(read.cursor, 1)
      ) {
        cursors.push(read.cursor)
      }
      for (const cursor of cursors) expect(journal.fits(cursor)).toBe(true)
      const stranger = { ...cursors.at(-1)!, sum: 'f'.repeat(32) }
      expect(journal.fits(stranger)).toBe(false)
      const beyond = { ...cursors.at(-1)!, seq: 10_000, offset: 100_000_000 }
      expect(journal.fits(beyond)).toBe(false)
    })

    it('reads each entry at the place it was given', async () => {
      const journal = await filled()
      for (const { entry, place } of await readAll(journal)) expect(journal.at(place)).toEqual(entry)
    })

    it('has nothing at a place where no entry is', async () => {
      const journal = await filled()
      const { place } = (await readAll(journal)).at(-1)!
      const elsewhere = { ...place, offset: place.offset + 1_000_000 }
      expect(journal.at(elsewhere)).toBeUndefined()
      expect(journal.damageAt(place)).toBeUndefined()
    })
  })

  describe(`${name}: life`, () => {
    it('wakes listeners after an append, until they go', async () => {
      const journal = await open()
      let wakes = 0
      let rung = () => {}
      const woken = new Promise<void>((resolve) => (rung = resolve))
      const stop = journal.onWake(() => {
        wakes++
        rung()
      })
      await appendMessage(journal)
      await woken
      stop()
      const before = wakes
      await appendMessage(journal)
      expect(wakes).toBe(before)
    })

    it('runs work with the exclusive right to write, and hands out what it returns or throws', async () => {
      const journal = await open()
      expect(journal.withLock(() => journal.withLock(() => 'inner'))).toBe('inner')
      const fail = () => {
        throw new Error('work failed')
      }
      expect(() => journal.withLock(fail)).toThrow('work failed')
      await appendMessage(journal, { subject: 'after' })
      expect(await subjectsIn(journal)).toEqual(['after'])
    })

    it('finishes pending appends when it is closed, and refuses later ones', async () => {
      const journal = await open()
      const pending = upTo(50).map((n) => appendMessage(journal, { subject: `${n}` }))
      const closing = journal.close()
      await expect(appendMessage(journal)).rejects.toMatchObject({ code: 'closed' })
      await closing
      expect(await Promise.all(pending)).toHaveLength(50)
      await expect(appendMessage(journal)).rejects.toMatchObject({ code: 'closed' })
    })
  })
}
