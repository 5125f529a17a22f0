import { describe, expect, it } from 'vitest'
import { parseStrictJson } from '../../src/base/json.ts'
import { decodeGist, decodeLine, hasItsSum, noSum } from '../../src/journal/codec.ts'
import type { Draft } from '../../src/model/entry.ts'
import { messageLimits } from '../../src/model/message.ts'
import { agentDraft, gistOf, messageDraft, upTo } from '../helpers/drafts.ts'
import { encodeLine, withOwnSum } from '../helpers/segments.ts'
import { tempSpace } from '../helpers/temp.ts'

const at = '2026-01-02T03:04:05.678Z'
const planes = upTo(17).map((n) => String.fromCodePoint((n - 1) * 0x10000 + 0x41, (n - 1) * 0x10000 + 0xfffe))
const hostile: Record<string, string> = {
  'a NUL': 'before\0after',
  'every C0 and C1 control': String.fromCharCode(
    ...upTo(0x20).map((n) => n - 1),
    ...upTo(0x21).map((n) => n + 0x7e),
  ),
  'a high surrogate alone': 'x\ud800y',
  'a low surrogate alone': 'x\udfffy',
  'surrogates the wrong way round': '\udc00\ud800',
  'every Unicode plane': planes.join(''),
  'line and paragraph separators': 'a\u2028b\u2029c\u0085d\r\ne',
  'a byte order mark': '\ufeffbom\ufffe\uffff',
  'what looks like the end of a line': '","sum":"00000000000000000000000000000000"}\n{"seq":1',
  'quotes and backslashes': '\\"\\\\"\\u0000"',
  'a right-to-left override': 'abc\u202egnp.exe',
}

function roundTrip(draft: Draft): Draft {
  const { text } = encodeLine(draft, 7, at, noSum)
  const { seq, at: when, ...back } = decodeLine(text.subarray(0, -1))!.entry
  expect({ seq, when }).toEqual({ seq: 7, when: at })
  return back
}

describe('a line', () => {
  it.each(Object.entries(hostile))('brings back %s in subject, body, payload and context', (_, text) => {
    const draft = messageDraft({
      subject: text,
      body: text,
      payload: { [text]: [text] },
      context: { [text]: text },
    })
    expect(roundTrip(draft)).toEqual(draft)
  })

  it.each(Object.entries(hostile))('stays one line of valid UTF-8 with %s in it', (_, text) => {
    const line = encodeLine(messageDraft({ body: text }), 1, at, noSum).text
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line)).toBe(
      line.toString('utf8'),
    )
  })

  it('keeps the names of built-in properties as plain keys', () => {
    const payload = { constructor: 1, prototype: 2, toString: 'x', hasOwnProperty: null, valueOf: [] }
    const draft = messageDraft({ payload })
    expect(roundTrip(draft)).toEqual(draft)
  })

  it.each<Draft>([
    messageDraft({ to: ['all'], expiresAt: at, key: 'k', tags: ['project:x'], attachments: ['/etc/hosts'] }),
    { ...messageDraft(), exclude: ['eve'] },
    agentDraft({ roles: ['architect'], note: '\0' }),
    {
      kind: 'receipt',
      step: 'acked',
      by: 'bob',
      changes: [{ id: 'x', seq: 1, rank: 1, owner: 'bob', box: 'bob', state: 'acked', was: 'stored' }],
      note: 'n',
    },
    { kind: 'segment', format: 1, space: 's', reason: 'size' },
    { kind: 'torn', offset: 0, bytes: 17, digest: 'f' },
  ])('brings back a $kind', (draft) => {
    expect(roundTrip(draft)).toEqual(draft)
  })

  it('holds the longest body there may be, however much its escapes swell it', () => {
    const draft = messageDraft({ body: '\0'.repeat(messageLimits.bytes) })
    expect(roundTrip(draft)).toEqual(draft)
  })

  it('refuses what is longer than any reader has to take', () => {
    const draft = messageDraft({ body: 'x'.repeat(messageLimits.lineBytes) })
    expect(() => encodeLine(draft, 1, at, noSum)).toThrow(expect.objectContaining({ code: 'over_limit' }))
  })

  it('refuses a draft that it could not read back', () => {
    const broken = messageDraft({ priority: 'whenever' as 'low' })
    expect(() => encodeLine(broken, 1, at, noSum)).toThrow()
  })
})

describe('a damaged line', () => {
  const line = Buffer.from(encodeLine(messageDraft({ body: 'Grüße, 世界 🌍' }), 3, at, noSum).text).subarray(
    0,
    -1,
  )

  it('is whole to begin with', () => {
    expect(decodeLine(line)).toBeDefined()
    expect(decodeGist(line)).toBeDefined()
    expect(hasItsSum(line)).toBe(true)
  })

  it('is detected whichever bit of whichever byte was flipped', () => {
    const undetected: string[] = []
    for (let position = 0; position < line.length; position++) {
      for (const mask of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
        const flipped = Buffer.from(line)
        flipped[position]! ^= mask
        // Whoever decides, copies, moves or verifies lines takes none that others cannot read.
        if (decodeLine(flipped) ?? decodeGist(flipped) ?? (hasItsSum(flipped) || undefined))
          undetected.push(`byte ${position}, mask ${mask}`)
      }
    }
    expect(undetected).toEqual([])
  })

  it('is detected wherever it was cut, at its end or at its beginning', () => {
    const undetected: number[] = []
    for (let position = 0; position < line.length; position++) {
      if (decodeLine(line.subarray(0, position)) !== undefined) undetected.push(position)
      if (position > 0 && decodeLine(line.subarray(position)) !== undefined) undetected.push(-position)
    }
    expect(undetected).toEqual([])
  })

  it('is detected when something was put in front or behind', () => {
    expect(decodeLine(Buffer.concat([line, Buffer.from(' ')]))).toBeUndefined()
    expect(decodeLine(Buffer.concat([Buffer.from(' '), line]))).toBeUndefined()
    expect(decodeLine(Buffer.concat([line, line]))).toBeUndefined()
  })

  it.each([
    ['an unknown kind', '"kind":"message"', '"kind":"gossip"'],
    ['a seq that is no number', '"seq":3', '"seq":"3"'],
    ['a seq beyond what a double holds', '"seq":3', '"seq":9007199254740993'],
    ['a priority nobody knows', '"priority":"normal"', '"priority":"whenever"'],
  ])('is refused for %s even when its checksum fits', (_, from, to) => {
    const forged = withOwnSum(line.toString().replace(from, to))
    expect(forged).not.toBe(line.toString())
    expect(decodeLine(Buffer.from(forged))).toBeUndefined()
  })
})

describe('the key __proto__', () => {
  const poisoned: Record<string, unknown> = {
    'at the top': JSON.parse('{"__proto__":{"admin":true}}'),
    'deep inside': JSON.parse('[{"a":[{"__proto__":1}]}]'),
    'spelled with an escape': JSON.parse('{"\\u005f_proto__":1}'),
  }

  it.each(Object.entries(poisoned))('is refused in a payload %s', async (_, payload) => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    await expect(ada.send({ to: 'ada', payload })).rejects.toMatchObject({ code: 'invalid' })
    expect((await space.verify()).messages).toBe(0)
  })

  it('is refused in a context', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    const context = JSON.parse('{"files":{"__proto__":1}}') as Record<string, unknown>
    await expect(ada.send({ to: 'ada', context })).rejects.toMatchObject({ code: 'invalid' })
  })

  it.each(['{"__proto__":1}', '{"a":[{"\\u005f\\u005fproto\\u005f\\u005f":1}]}'])(
    'is refused in JSON from outside: %s',
    (text) => {
      expect(() => parseStrictJson(text)).toThrow(expect.objectContaining({ code: 'invalid' }))
    },
  )
})

describe('the gist of a line', () => {
  const lineOf = (draft: Draft) => encodeLine(draft, 7, at, noSum).text.subarray(0, -1)

  it.each(Object.entries(hostile))('is the same as of the whole entry with %s in it', (_, text) => {
    const line = lineOf(messageDraft({ subject: text, body: `${text},"createdAt":"`, payload: { text } }))
    expect(decodeGist(line)).toEqual({ entry: gistOf(decodeLine(line)!.entry), sum: decodeLine(line)!.sum })
  })

  it('is the whole entry where it is no message', () => {
    const line = lineOf(agentDraft())
    expect(decodeGist(line)?.entry).toEqual(decodeLine(line)!.entry)
  })

  it('is found in a message whose keys stand in another order', () => {
    const { kind, message } = messageDraft()
    const { createdAt, ...rest } = message
    const line = lineOf({ kind, message: { createdAt, ...rest } })
    expect(gistOf(decodeGist(line)!.entry)).toEqual(gistOf(decodeLine(line)!.entry))
  })

  it('is refused when a single bit of the body is wrong', () => {
    const line = Buffer.from(lineOf(messageDraft({ body: 'the body' })))
    line[line.indexOf('the body')]! ^= 1
    expect(decodeGist(line)).toBeUndefined()
  })
})
