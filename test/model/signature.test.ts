import { describe, expect, test } from 'vitest'
import { newSigningKey, signerOf } from '../../src/base/signing.ts'
import type { Entry, KeyDraft, MessageDraft, ShareDraft } from '../../src/model/entry.ts'
import {
  changerIn,
  exportedSignature,
  KeyHistory,
  keyChangeText,
  LeafBuffer,
  type MessageSigner,
  parseSignature,
  sharerIn,
  shareText,
  signedTextIn,
  signerIn,
  signLeaves,
  signTogether,
} from '../../src/model/signature.ts'
import { message, sampleTime } from '../helpers/samples.ts'

function signer(space = 'here'): MessageSigner {
  const key = newSigningKey()
  return { public: key.public, space, sign: signerOf(key) }
}

/** A message as it stands in a line: without place and sums. */
const lineOf = (draft: MessageDraft) => JSON.stringify(draft).slice(1, -1)
const draftOf = (fields: Parameters<typeof message>[0] = {}): MessageDraft => ({
  kind: 'message',
  message: message(fields),
})
const textOf = (draft: MessageDraft, space = 'here') => signedTextIn(lineOf(draft), draft, space)
const ada = signer()
const bob = signer()

/** Signed alone. */
const signed = (draft: MessageDraft, by = ada, space = 'here'): MessageDraft => ({
  ...draft,
  signature: signTogether([textOf(draft, space)], by)[0]!,
})

describe('a signature', () => {
  const [key, value, step] = ['k'.repeat(43), 'v'.repeat(86), 'd'.repeat(32)]

  test('has the key, what it signed with, and perhaps a way to the root and a space', () => {
    expect(parseSignature(`${key}.${value}`)).toEqual({ key, value, path: '', space: undefined })
    expect(parseSignature(`${key}.${value}.a space.x`)).toEqual({ key, value, path: '', space: 'a space.x' })
    const path = `~l${step}~r${step}`
    expect(parseSignature(`${key}.${value}${path}.x`)).toEqual({ key, value, path, space: 'x' })
    expect(parseSignature(`${key}.${value}${`~l${step}`.repeat(20)}`)?.path).toHaveLength(20 * 34)
  })

  test('is nothing else', () => {
    const wrong = [
      ...['', key, `${key}.`, `${key.slice(1)}.${value}`, `${key}k.${value}`, `${key}.${value.slice(1)}`],
      ...[
        `${key}.${value}v`,
        ` ${key}.${value}`,
        `${key}.${value} `,
        `${key}.${value}.`,
        `${key}.${value}~x${step}`,
      ],
      ...[
        `${key}.${value}~l${step.slice(1)}`,
        `${key}.${value}${`~l${step}`.repeat(21)}`,
        `${key}.${value}.${'x'.repeat(121)}`,
      ],
      ...[`${key}.${value}.x\n`, `+${key.slice(1)}.${value}`],
    ]
    for (const text of wrong) expect(parseSignature(text)).toBeUndefined()
    expect(parseSignature(`${key}.${value}.${'x'.repeat(120)}`)?.space).toHaveLength(120)
  })

  test('in an export says where it comes from, once', () => {
    const alone = `${key}.${value}`
    expect(exportedSignature(alone, 'here')).toBe(`${alone}.here`)
    expect(exportedSignature(`${alone}.there`, 'here')).toBe(`${alone}.there`)
  })
})

describe('a signed message', () => {
  const draft = draftOf({ body: 'Grüße "x"' })

  test('is known by the key of its signer, in its space', () => {
    expect(signerIn(signed(draft), 'here')).toBe(ada.public)
    expect(signerIn(signed(draft, bob), 'here')).toBe(bob.public)
    expect(signerIn(signed(draft), 'there')).toBeUndefined()
    expect(signerIn(draft, 'here')).toBeUndefined()
    expect(signerIn({ ...draft, signature: 'no signature' }, 'here')).toBeUndefined()
  })

  test('that was imported proves nothing here', () => {
    const { signature } = signed(draft)
    expect(signerIn({ ...draft, signature: `${signature}.here` }, 'here')).toBeUndefined()
  })

  test('cannot be changed, by a single field or by who is left out of it', () => {
    const { signature } = signed(draft)
    for (const fields of [
      { body: 'Grüße "y"' },
      { from: 'eve' },
      { to: ['ada'] },
      { priority: 'urgent' },
      { payload: {} },
    ] satisfies Parameters<typeof message>[0][])
      expect(signerIn({ ...draftOf({ ...draft.message, ...fields }), signature }, 'here')).toBeUndefined()
    expect(signerIn({ ...draft, exclude: ['cy'], signature }, 'here')).toBeUndefined()
    const without = signed({ ...draft, exclude: ['cy'] })
    expect(signerIn(without, 'here')).toBe(ada.public)
    expect(signerIn({ ...without, exclude: ['dan'] }, 'here')).toBeUndefined()
    expect(signerIn({ ...without, exclude: undefined }, 'here')).toBeUndefined()
  })

  test('is signed over the same text, whatever that is made from', () => {
    const text = JSON.stringify(['agent-mailbox message', 'a "space"', draft.message, []])
    expect(signedTextIn(lineOf(draft), draft, 'a "space"')).toBe(text)
    const imported = { ...draft, originalAt: sampleTime }
    expect(
      signedTextIn(
        JSON.stringify({ kind: 'message', originalAt: sampleTime, message: draft.message }).slice(1, -1),
        imported,
        'a "space"',
      ),
    ).toBe(text)
    const without = { ...draft, exclude: ['cy'] }
    expect(signedTextIn(lineOf(without), without, 'x')).toBe(
      JSON.stringify(['agent-mailbox message', 'x', draft.message, ['cy']]),
    )
  })
})

describe('messages that are signed together', () => {
  const drafts = (count: number) => Array.from({ length: count }, (_, at) => draftOf({ body: `${at} Ω` }))

  test.each([1, 2, 3, 4, 5, 7, 8, 13])('are %i, and each is checked without the others', (count) => {
    const all = drafts(count)
    const signatures = signTogether(
      all.map((draft) => textOf(draft)),
      ada,
    )
    expect(new Set(signatures.map((one) => parseSignature(one)!.value)).size).toBe(1)
    for (const [at, draft] of all.entries()) {
      expect(signerIn({ ...draft, signature: signatures[at]! }, 'here')).toBe(ada.public)
      expect(signerIn({ ...draft, signature: signatures[at]! }, 'there')).toBeUndefined()
      const other = signatures[(at + 1) % count]!
      if (count > 1) expect(signerIn({ ...draft, signature: other }, 'here')).toBeUndefined()
    }
  })

  test('have one signature, and ways to its root that are as long as they must be', () => {
    const paths = signTogether(
      drafts(5).map((draft) => textOf(draft)),
      ada,
    ).map((one) => parseSignature(one)!.path)
    const steps = paths.map((path) => [...path.matchAll(/~([lr])/g)].map(([, side]) => side).join(''))
    expect(steps).toEqual(['rrr', 'lrr', 'rlr', 'llr', 'l'])
    let times = 0
    const counting = {
      ...ada,
      sign: (text: string) => {
        times++
        return ada.sign(text)
      },
    }
    signTogether(
      drafts(8).map((draft) => textOf(draft)),
      counting,
    )
    expect(times).toBe(1)
  })

  test('cannot be moved in their tree, and the root is no message', () => {
    const all = drafts(4)
    const [first] = signTogether(
      all.map((draft) => textOf(draft)),
      ada,
    )
    const moved = first!.replace('~r', '~l')
    expect(signerIn({ ...all[0]!, signature: moved }, 'here')).toBeUndefined()
    const { key, value } = parseSignature(first!)!
    expect(signerIn({ ...all[0]!, signature: `${key}.${value}` }, 'here')).toBeUndefined()
  })

  test('have the same digests from the bytes of their lines', () => {
    const buffer = new LeafBuffer()
    const all = [
      ...drafts(3),
      { ...draftOf(), exclude: ['cy'] },
      draftOf({ body: 'Ω'.repeat(100_000) }),
      ...drafts(2),
    ]
    for (const space of ['here', 'a "space"', 'here']) {
      const leaves = all.map((draft) => {
        const line = lineOf(draft)
        const { leaf, bytes } = buffer.add(line, draft, space)
        expect(bytes?.toString('utf8')).toBe(draft.exclude === undefined ? line : undefined)
        return leaf
      })
      const signatures = signLeaves(leaves, ada)
      for (const [at, draft] of all.entries())
        expect(signerIn({ ...draft, signature: signatures[at]! }, space)).toBe(ada.public)
    }
  })

  test('keep their bytes while others are added', () => {
    const buffer = new LeafBuffer()
    const all = drafts(300)
    const added = all.map((draft) => buffer.add(lineOf(draft), draft, 'here').bytes!)
    for (const [at, draft] of all.entries()) expect(added[at]!.toString('utf8')).toBe(lineOf(draft))
    buffer.clear()
    const [again] = drafts(1)
    expect(buffer.add(lineOf(again!), again!, 'here').bytes!.toString('utf8')).toBe(lineOf(again!))
  })
})

const keyDraft = (fields: Partial<KeyDraft> = {}): KeyDraft => {
  const draft = {
    kind: 'key',
    change: 'rotated',
    agent: 'ada',
    by: 'ada',
    key: bob.public,
    ...fields,
  } as KeyDraft
  return draft
}
const changed = (fields: Partial<KeyDraft> = {}, by = ada, space = 'here'): KeyDraft => {
  const draft = keyDraft(fields)
  return { ...draft, signature: `${by.public}.${by.sign(keyChangeText(draft, space))}` }
}
const shareDraft = (fields: Partial<ShareDraft> = {}, by = ada, space = 'here'): ShareDraft => {
  const draft = {
    kind: 'share',
    change: 'shared',
    by: 'ada',
    key: '0123456789abcdef',
    for: { bob: 'x' },
    ...fields,
  } as ShareDraft
  return { ...draft, signature: `${by.public}.${by.sign(shareText(draft, space))}` }
}

describe('a change of a key', () => {
  test('counts when the agent has signed it with the key that it is known by', () => {
    expect(changerIn(changed(), 'here', ada.public)).toBe(ada.public)
    expect(changerIn(changed(), 'here', bob.public)).toBeUndefined()
    expect(changerIn(changed(), 'here', undefined)).toBeUndefined()
    expect(changerIn(changed(), 'here', null)).toBeUndefined()
    expect(changerIn(changed(), 'there', ada.public)).toBeUndefined()
  })

  test('counts when the person has signed it, who may not be known yet', () => {
    const byPerson = changed({ by: 'user' })
    expect(changerIn(byPerson, 'here', ada.public)).toBe(ada.public)
    expect(changerIn(byPerson, 'here', undefined)).toBe(ada.public)
    expect(changerIn(byPerson, 'here', null)).toBeUndefined()
    // Another agent may not.
    expect(changerIn(changed({ by: 'bob' }), 'here', ada.public)).toBeUndefined()
  })

  test('cannot be changed in any of its words', () => {
    const { signature } = changed()
    for (const fields of [
      { change: 'revoked' },
      { key: ada.public },
      { key: undefined },
      { agent: 'user', by: 'user' },
    ] as const)
      expect(
        changerIn({ ...keyDraft(fields as Partial<KeyDraft>), signature }, 'here', ada.public),
      ).toBeUndefined()
    expect(changerIn({ ...changed(), signature: 'x' }, 'here', ada.public)).toBeUndefined()
    const tree = `${changed().signature}~l${'d'.repeat(32)}`
    expect(changerIn({ ...changed(), signature: tree }, 'here', ada.public)).toBeUndefined()
    const revoked = changed({ change: 'revoked', key: undefined } as Partial<KeyDraft>)
    expect(changerIn(revoked, 'here', ada.public)).toBe(ada.public)
  })

  test('and the sharing of one are not taken for each other', () => {
    expect(sharerIn(shareDraft(), 'here', ada.public)).toBe(ada.public)
    expect(sharerIn(shareDraft(), 'there', ada.public)).toBeUndefined()
    expect(sharerIn(shareDraft(), 'here', undefined)).toBeUndefined()
    expect(sharerIn(shareDraft({ by: 'user' }), 'here', undefined)).toBe(ada.public)
    const { signature } = shareDraft()
    for (const fields of [
      { for: { eve: 'x' } },
      { key: 'fedcba9876543210' },
      { change: 'created' },
      { by: 'user' },
    ] as const)
      expect(
        sharerIn({ ...shareDraft(fields as Partial<ShareDraft>), signature }, 'here', ada.public),
      ).toBeUndefined()
  })
})

describe('the keys of a journal', () => {
  let seq = 0
  const placed = (draft: object) => ({ seq: ++seq, at: sampleTime, ...draft }) as unknown as Entry
  const from = (name: string, by: MessageSigner | undefined) =>
    placed(by === undefined ? draftOf({ from: name }) : signed(draftOf({ from: name }), by))
  const forged = (name: string) =>
    `the message says that it is from ${name}, but is not signed with the key of ${name}`

  test('are those that senders signed with first', () => {
    const keys = new KeyHistory('here')
    expect(
      [from('ada', undefined), from('ada', ada), from('ada', ada)].map((one) => keys.forgedIn(one)),
    ).toEqual([...[undefined, undefined, undefined]])
    expect(keys.forgedIn(from('ada', bob))).toBe(forged('ada'))
    expect(keys.forgedIn(from('bob', bob))).toBeUndefined()
    expect(
      keys.forgedIn(
        placed({ ...signed(draftOf({ from: 'ada' })), message: message({ from: 'ada', body: 'no' }) }),
      ),
    ).toBe(forged('ada'))
    expect(
      keys.forgedIn(
        placed({ ...signed(draftOf({ from: 'cy' })), message: message({ from: 'cy', body: 'no' }) }),
      ),
    ).toBe(forged('cy'))
    expect(keys.forgedIn(placed({ kind: 'agent' }))).toBeUndefined()
  })

  test('say which sender has left out its signature', () => {
    const keys = new KeyHistory('here')
    expect(keys.isUnsigned(from('ada', undefined))).toBe(false)
    keys.forgedIn(from('ada', ada))
    expect(keys.isUnsigned(from('ada', undefined))).toBe(true)
    expect(keys.isUnsigned(from('ada', ada))).toBe(false)
    expect(keys.isUnsigned(from('bob', undefined))).toBe(false)
    expect(keys.isUnsigned(placed({ ...draftOf({ from: 'ada' }), originalAt: sampleTime }))).toBe(false)
    expect(keys.isUnsigned(placed({ kind: 'agent' }))).toBe(false)
  })

  test('are not learned from what was imported', () => {
    const keys = new KeyHistory('here')
    expect(
      keys.forgedIn(placed({ ...signed(draftOf({ from: 'ada' }), bob), originalAt: sampleTime })),
    ).toBeUndefined()
    expect(keys.forgedIn(from('ada', ada))).toBeUndefined()
  })

  test('are replaced and revoked by whoever may', () => {
    const keys = new KeyHistory('here')
    keys.forgedIn(from('ada', ada))
    expect(keys.forgedIn(placed(changed({}, bob)))).toBe('the key of ada is changed without the key of ada')
    expect(keys.forgedIn(from('ada', ada))).toBeUndefined()
    expect(keys.forgedIn(placed(changed()))).toBeUndefined()
    expect(keys.forgedIn(from('ada', ada))).toBe(forged('ada'))
    expect(keys.forgedIn(from('ada', bob))).toBeUndefined()
    // By the person, who was not known before and is now.
    const person = signer()
    const revoked = { change: 'revoked', by: 'user', key: undefined } as Partial<KeyDraft>
    expect(keys.forgedIn(placed(changed(revoked, person)))).toBeUndefined()
    expect(keys.forgedIn(from('ada', bob))).toBe(forged('ada'))
    expect(keys.forgedIn(from('user', ada))).toBe(forged('user'))
    expect(keys.forgedIn(from('user', person))).toBeUndefined()
    expect(keys.forgedIn(placed(changed(revoked, ada)))).toBe(
      'the key of ada is changed without the key of user',
    )
    // One that was revoked does nothing any more.
    expect(keys.forgedIn(placed(changed({}, bob)))).toBe('the key of ada is changed without the key of ada')
  })

  test('are those by which keys of the space are shared', () => {
    const keys = new KeyHistory('here')
    keys.forgedIn(from('ada', ada))
    expect(keys.forgedIn(placed(shareDraft()))).toBeUndefined()
    expect(keys.forgedIn(placed(shareDraft({}, bob)))).toBe(
      'a key of the space is shared without the key of ada',
    )
    expect(keys.forgedIn(placed(shareDraft({ originalAt: sampleTime, space: 'there' }, bob)))).toBeUndefined()
    expect(keys.forgedIn(placed(shareDraft({ by: 'user' }, bob)))).toBeUndefined()
    expect(keys.forgedIn(from('user', ada))).toBe(forged('user'))
  })
})
