import { describe, expect, test } from 'vitest'
import { idOfKey, newDataKey } from '../../src/base/sealing.ts'
import type { Entry, ReceiptDraft } from '../../src/model/entry.ts'
import type { Message } from '../../src/model/message.ts'
import {
  audienceIn,
  audienceOf,
  audienceRank,
  exportedSeal,
  hiddenFrom,
  lockedMessage,
  lockedNote,
  openMessage,
  openNote,
  parseSealed,
  sealMessage,
  sealNote,
} from '../../src/model/sealed.ts'
import { idOf, message, sampleTime } from '../helpers/samples.ts'

const key = newDataKey()
const seal = { ref: idOfKey(key), key }
const age = 'a'.repeat(300)
const whole = message({
  ...{ subject: 'a secret subject', body: 'a secret body', attachments: ['secret.ts'], tags: ['project:x'] },
  ...{ payload: { secret: 1, withinMs: 5 }, context: { secret: 2 } },
})
const plain = message({ subject: 's', body: 'b' })

describe('what is sealed', () => {
  test('names its key, and perhaps the space that it comes from', () => {
    expect(parseSealed(`${seal.ref}.text`)).toEqual({ key: seal.ref, text: 'text', space: undefined })
    expect(parseSealed(`${age}.te-x_t.a space.x`)).toEqual({ key: age, text: 'te-x_t', space: 'a space.x' })
    for (const wrong of [
      '',
      seal.ref,
      `${seal.ref}.`,
      'short.text',
      ` ${seal.ref}.text`,
      `${seal.ref}.te xt`,
      `${seal.ref}.text.`,
      `${seal.ref}.text.${'x'.repeat(121)}`,
    ])
      expect(parseSealed(wrong)).toBeUndefined()
    expect(parseSealed(`${'k'.repeat(16)}.t.${'x'.repeat(120)}`)?.space).toHaveLength(120)
    expect(parseSealed(`${'k'.repeat(15)}.t`)).toBeUndefined()
  })

  test('is for the space or for recipients, by its key', () => {
    expect([audienceIn(`${seal.ref}.x`), audienceIn(`${age}.x`)]).toEqual(['space', 'recipients'])
    expect([audienceOf(parseSealed(`${seal.ref}.x`)!), audienceOf(parseSealed(`${age}.x`)!)]).toEqual([
      'space',
      'recipients',
    ])
    expect(audienceOf({ key: 'G'.repeat(16), text: '' })).toBe('recipients')
    expect(audienceOf({ key: `${seal.ref}0`, text: '' })).toBe('recipients')
    expect(audienceOf({ key: `x${seal.ref}`, text: '' })).toBe('recipients')
    expect([{}, { sealed: `${seal.ref}.x` }, { sealed: `${age}.x` }].map(audienceRank)).toEqual([0, 1, 2])
  })

  test('in an export says where it comes from, once', () => {
    expect(exportedSeal(`${seal.ref}.x`, 'here')).toBe(`${seal.ref}.x.here`)
    expect(exportedSeal(`${seal.ref}.x.there`, 'here')).toBe(`${seal.ref}.x.there`)
  })
})

describe('a message that is sealed', () => {
  const sealed = sealMessage(whole, seal, 'here', { withinMs: 5 })

  test('has nothing readable of its text, and all of what it is delivered by', () => {
    expect(JSON.stringify(sealed)).not.toContain('secret')
    const { subject, body, attachments, payload, sealed: text, ...rest } = sealed
    expect({ subject, body, attachments, payload }).toEqual({
      subject: '',
      body: '',
      attachments: [],
      payload: { withinMs: 5 },
    })
    expect(text?.startsWith(`${seal.ref}.`)).toBe(true)
    const { subject: _, body: __, attachments: ___, payload: ____, context, ...before } = whole
    expect(rest).toEqual(before)
    expect('payload' in sealMessage(whole, seal, 'here', undefined)).toBe(false)
    expect('context' in sealed).toBe(false)
    expect(whole.subject).toBe('a secret subject')
  })

  test('is opened as it was', () => {
    expect(openMessage(sealed, key, 'here')).toEqual(whole)
    const opened = openMessage(sealMessage(plain, seal, 'here', undefined), key, 'here')!
    expect(opened).toEqual(plain)
    expect([Object.hasOwn(opened, 'payload'), Object.hasOwn(opened, 'context')]).toEqual([false, false])
  })

  test('is opened with its key, in its space, as this message of this sender', () => {
    expect(openMessage(sealed, newDataKey(), 'here')).toBeUndefined()
    expect(openMessage(sealed, key, 'there')).toBeUndefined()
    expect(openMessage({ ...sealed, id: idOf(9) }, key, 'here')).toBeUndefined()
    expect(openMessage({ ...sealed, from: 'eve' }, key, 'here')).toBeUndefined()
    expect(openMessage(whole, key, 'here')).toBeUndefined()
    expect(openMessage({ ...sealed, sealed: `${sealed.sealed}.here` }, key, 'there')).toEqual(whole)
    expect(openMessage({ ...sealed, sealed: `${sealed.sealed}.there` }, key, 'here')).toBeUndefined()
  })

  test('holds the text of a message and nothing else', () => {
    const holding = (text: unknown) => {
      const odd = sealMessage({ ...plain, ...(text as object) } as Message, seal, 'here', undefined)
      return openMessage(odd, key, 'here')
    }
    expect(holding({})).toBeDefined()
    expect(holding({ subject: 7 })).toBeUndefined()
    expect(holding({ body: undefined })).toBeUndefined()
    expect(holding({ attachments: 'a' })).toBeUndefined()
  })

  test('says to whoever has no key for whom it is', () => {
    expect(lockedMessage(sealed)).toMatchObject({
      ...{ subject: '(encrypted)', body: 'Encrypted for the members of this space; you have no key for it.' },
    })
    expect('sealed' in lockedMessage(sealed)).toBe(false)
    expect(lockedMessage({ ...sealed, to: ['ada', 'cy'], sealed: `${age}.x` }).body).toBe(
      'Encrypted for ada, cy; you have no key for it.',
    )
    expect(lockedMessage({ ...sealed, sealed: 'odd' }).body).toMatch(
      /^Encrypted for the members of this space;/,
    )
    expect(lockedMessage(plain).subject).toBe('(encrypted)')
  })
})

const receipt = (fields: Partial<ReceiptDraft> = {}): ReceiptDraft => ({
  ...{ kind: 'receipt', step: 'failed', by: 'ada', note: 'a secret note' },
  changes: [1, 1, 2].map((n) => ({
    id: idOf(n),
    seq: n,
    rank: 1,
    owner: 'ada',
    box: 'ada',
    state: 'failed' as const,
  })),
  ...fields,
})

describe('a note that is sealed', () => {
  const sealed = sealNote(receipt(), seal, 'here')

  test('is opened as the note of this step', () => {
    expect(JSON.stringify(sealed)).not.toContain('secret')
    expect('note' in sealed).toBe(false)
    expect(openNote(sealed, key, 'here')).toBe('a secret note')
    for (const other of [
      { step: 'done' },
      { by: 'eve' },
      { changes: sealed.changes.slice(0, 2) },
      { changes: sealed.changes.toReversed() },
    ] as const)
      expect(openNote({ ...sealed, ...other } as ReceiptDraft, key, 'here')).toBeUndefined()
    // Which copies of a message change says nothing of the note.
    expect(openNote({ ...sealed, changes: sealed.changes.slice(1) }, key, 'here')).toBe('a secret note')
    expect(openNote(sealed, newDataKey(), 'here')).toBeUndefined()
    expect(openNote(sealed, key, 'there')).toBeUndefined()
    expect(openNote({ ...sealed, sealed: `${sealed.sealed}.here` }, key, 'there')).toBe('a secret note')
    expect(openNote(receipt(), key, 'here')).toBeUndefined()
  })

  test('is one that there was', () => {
    const { note: _, ...without } = receipt()
    expect(sealNote(without as ReceiptDraft, seal, 'here')).toBe(without)
  })
})

describe('an entry that was opened', () => {
  const entry = (draft: object) => ({ seq: 1, at: sampleTime, ...draft }) as unknown as Entry
  const opened = (fields: object = {}) =>
    entry({
      kind: 'message',
      message: { ...whole, from: 'bob', to: ['ada', 'cy'], encrypted: 'recipients', ...fields },
    })

  test('is closed again for whoever is neither its sender nor a recipient', () => {
    for (const name of ['bob', 'ada', 'cy']) expect(hiddenFrom(opened(), name)).toEqual(opened())
    const hidden = hiddenFrom(opened(), 'eve') as Extract<Entry, { kind: 'message' }>
    expect(JSON.stringify(hidden)).not.toContain('secret')
    expect(hidden.message).toMatchObject({
      ...{
        id: whole.id,
        from: 'bob',
        to: ['ada', 'cy'],
        subject: '(encrypted)',
        attachments: [],
        locked: true,
      },
      body: 'Encrypted for ada, cy; you have no key for it.',
    })
    expect('payload' in hidden.message || 'context' in hidden.message).toBe(false)
  })

  test('is open for all if it was not for recipients alone', () => {
    for (const fields of [{ encrypted: 'space' }, { encrypted: undefined }])
      expect(hiddenFrom(opened(fields), 'eve')).toEqual(opened(fields))
    const joined = entry({ kind: 'agent' })
    expect(hiddenFrom(joined, 'eve')).toBe(joined)
  })

  test('has a note for those whom it is about, unless the space can read it', () => {
    const noted = (fields: object = {}) => entry({ ...receipt(), sealed: `${age}.x`, ...fields })
    const noteFor = (name: string, fields: object = {}) =>
      (hiddenFrom(noted(fields), name) as unknown as ReceiptDraft).note
    expect([noteFor('ada'), noteFor('eve')]).toEqual(['a secret note', lockedNote])
    const changes = [{ ...receipt().changes[0]!, owner: 'role:dev', box: 'cy' }]
    expect([
      noteFor('cy', { changes }),
      noteFor('role:dev', { changes }),
      noteFor('bob', { changes }),
    ]).toEqual([...['a secret note', 'a secret note', lockedNote]])
    expect(noteFor('eve', { sealed: `${seal.ref}.x` })).toBe('a secret note')
    expect(noteFor('eve', { sealed: undefined })).toBe('a secret note')
    expect(noteFor('eve', { sealed: 'odd' })).toBe(lockedNote)
  })
})
