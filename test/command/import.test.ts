import { describe, expect, test } from 'vitest'
import { ImportRun } from '../../src/command/import.ts'
import { checkImport } from '../../src/command/import-check.ts'
import type { ReceiptDraft, ReceiptEntry } from '../../src/model/entry.ts'
import { messageLimits } from '../../src/model/message.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf, message, sampleTime } from '../helpers/samples.ts'
import { type Mail, mail, spaceOf } from './fake-view.ts'

const checks = { maxBytes: messageLimits.bytes, by: 'user' }
const check = (value: unknown) => checkImport(value, checks)
const later = '2026-11-15T10:00:00.000Z'
const step = (fields: object = {}) => ({
  ...{ kind: 'receipt', at: later, step: 'shown', by: 'ada' },
  changes: [{ id: idOf(1), owner: 'ada', box: 'ada', state: 'shown' }],
  ...fields,
})

describe('a line of an export', () => {
  test('is taken with its time', () => {
    const draft = { kind: 'message', originalAt: later, message: message() }
    expect(check({ kind: 'message', at: later, message: message() })).toEqual(draft)
    expect(check({ kind: 'message', at: later, message: message(), exclude: ['cy'] })).toEqual({
      ...draft,
      exclude: ['cy'],
    })
    const { kind, at: originalAt, ...rest } = step({ note: 'x' })
    expect(check(step({ note: 'x' }))).toEqual({ kind, originalAt, ...rest })
    expect(check({ kind: 'agent', at: later, agent: agent('ada') })).toEqual({
      ...{ kind: 'agent', change: 'updated', by: 'ada', originalAt: later, agent: agent('ada') },
    })
    expect(check({ kind: 'settings', settings: { pollMs: 250 } })).toEqual({
      ...{ kind: 'settings', settings: { pollMs: 250 } },
    })
    expect(check({ kind: 'export', format: 1 })).toEqual({ kind: 'export' })
  })

  test('of an older version is a message, with or without its place', () => {
    const draft = { kind: 'message', originalAt: sampleTime, message: message() }
    expect(check(message())).toEqual(draft)
    expect(check({ ...message(), seq: 7 })).toEqual(draft)
    expect(check({ message: { ...message(), seq: 7 }, receipts: [{}] })).toEqual(draft)
    expect(check({ message: message(), exclude: ['cy'] })).toEqual({ ...draft, exclude: ['cy'] })
  })

  const sent = (fields: object) => ({ kind: 'message', at: later, message: { ...message(), ...fields } })
  const { id: _, ...nameless } = message()
  test.each<[said: RegExp, value: unknown, code?: string]>([
    [/^not a JSON object/, null],
    [/^not a JSON object/, 'text'],
    [/^not a JSON object/, []],
    [/^id is missing/, {}],
    [/^not a message/, { message: null }],
    [/^unknown kind "gossip"/, { kind: 'gossip' }],
    [/^id is missing/, { kind: 'message', at: later, message: nameless }],
    [/^at must be a time/, { kind: 'message', message: message() }],
    [/^at must be a time/, { ...sent({}), at: '2026-02-30T00:00:00.000Z' }],
    [/^unknown field "seq"/, { ...sent({}), seq: 7 }],
    [/^exclude must be a list/, { ...sent({}), exclude: 'cy' }],
    [/^exclude item .* control/, { ...sent({}), exclude: ['a\nb'] }],
    [/^id must be a UUID/, sent({ id: 'x' })],
    [/^body must be a string/, sent({ body: 5 })],
    [/^from must be 1 to 200 visible characters/, sent({ from: 'a\nb' })],
    [/^from must be 1 to 200 visible/, sent({ from: 'a\u202eb' })],
    [/^from "all" is reserved/, sent({ from: 'all' })],
    [/^from must be/, sent({ from: '' })],
    [/^the message has no recipient/, sent({ to: [] })],
    [/^to must be a list of strings/, sent({ to: 'a' })],
    [/^address .* control/, sent({ to: ['a\nb'] })],
    [/^to contains "agent:ada"/, sent({ to: ['agent:ada'] })],
    [/^to contains "system"/, sent({ to: ['system'] })],
    [/^createdAt must be a time/, sent({ createdAt: 'yesterday' })],
    [/^createdAt must be a time/, sent({ createdAt: '2026-02-30T00:00:00.000Z' })],
    [/^expiresAt must be a time/, sent({ expiresAt: 1 })],
    [/^type must not contain spaces/, sent({ type: 'a b' })],
    [/not a tag/, sent({ tags: ['Ä:x'] })],
    [/^subject has 501 characters/, sent({ subject: 'x'.repeat(501) })],
    [/^a message has no field "colour"/, sent({ colour: 'red' })],
    [/^the message has 3000000 bytes/, sent({ body: 'x'.repeat(3_000_000) }), 'over_limit'],
    [/^by .* control/, step({ by: 'a\nb' })],
    [/^step is missing or not valid/, step({ step: 'swallowed' })],
    [/^colour is unknown/, step({ colour: 'red' })],
    [/^the note has 10001 characters/, step({ note: 'x'.repeat(10_001) })],
    [/^changes is/, step({ changes: [] })],
    [/^changes\.0\.seq is unknown/, step({ changes: [{ ...step().changes[0], seq: 3 }] })],
    [/^changes\.0\.state is/, step({ changes: [{ ...step().changes[0], state: 'seen' }] })],
    [/^owner "broadcast:x"/, step({ changes: [{ ...step().changes[0], owner: 'broadcast:x' }] })],
    [/^mail of ada cannot be in the box of bob/, step({ changes: [{ ...step().changes[0], box: 'bob' }] })],
    [/negative/, step({ changes: [{ ...step().changes[0], attempts: -1 }] })],
    [/^at must be a time/, step({ changes: [{ ...step().changes[0], ackBy: '2026-02-30T00:00:00.000Z' }] })],
    [/^the name system is reserved/, { kind: 'agent', at: later, agent: agent('system') }],
    [/^agent name .* control/, { kind: 'agent', at: later, agent: agent('a\nb') }],
    [/not a tag/, { kind: 'agent', at: later, agent: agent('ada', { tags: ['Ä:x'] }) }],
    [/^note must be a short text/, { kind: 'agent', at: later, agent: agent('ada', { note: 'a\nb' }) }],
    [/^state is/, { kind: 'agent', at: later, agent: { ...agent('ada'), state: 'busy' } }],
    [/^"colour" is no setting/, { kind: 'settings', settings: { colour: 'red' } }],
    [/^invalid value for pollMs/, { kind: 'settings', settings: { pollMs: 'often' } }],
    [/^"webhook" is no setting that can/, { kind: 'settings', settings: { webhook: 'https://example.org' } }],
    [/^the export has format 2; this version reads 1/, { kind: 'export', format: 2 }, 'conflict'],
  ])('is refused: %s', (said, value, code = 'invalid') => {
    expect(refusal(() => check(value))).toMatchObject({ code, message: expect.stringMatching(said) })
  })

  test('of the person or the system is taken from the person only', () => {
    for (const from of ['user', 'system']) {
      const value = { kind: 'message', at: later, message: message({ from }) }
      expect(check(value)).toMatchObject({ message: { from } })
      for (const line of [value, step({ by: from })])
        expect(refusal(() => checkImport(line, { ...checks, by: 'ada' }))).toMatchObject({
          code: 'not_permitted',
          message: `ada cannot import what ${from} did`,
        })
    }
    expect(checkImport(message({ from: 'bob' }), { ...checks, by: 'ada' })).toMatchObject({ kind: 'message' })
  })
})

type Lines = Parameters<ImportRun['decide']>[1]
const lines = (...values: object[]) => values.map(check) as unknown as Lines

describe('an import', () => {
  const sent = (number: number, fields: object = {}) => ({
    ...{ kind: 'message', at: sampleTime, message: message({ id: idOf(number), ...fields }) },
  })
  const change = (number: number, fields: object) => ({
    id: idOf(number),
    owner: 'ada',
    box: 'ada',
    ...fields,
  })

  test('leaves out what is there', () => {
    const here = spaceOf([agent('ada')], mail(1, { id: idOf(1) }))
    const given = lines(sent(1), sent(2), sent(2), { kind: 'agent', at: later, agent: agent('ada') })
    const { drafts, result } = new ImportRun().decide(here, given)
    expect(result).toEqual(['skipped', 'imported', 'skipped', 'skipped'])
    expect(drafts).toEqual([given[1]])
  })

  test('gives a step its place and what was before, once its message is placed', () => {
    const { drafts, result } = new ImportRun().decide(
      spaceOf([]),
      lines(
        sent(1, { to: ['role:architect', 'project:x'], priority: 'high' }),
        step({
          step: 'claimed',
          changes: [
            { ...change(1, { owner: 'role:architect', state: 'shown' }), attempts: 1, claim: 70 },
            change(1, { state: 'shown', viaGroup: true }),
          ],
        }),
        step({ step: 'acked', changes: [change(1, { owner: 'role:architect', state: 'acked' })] }),
      ),
    )
    expect(result).toEqual(['imported', 'imported', 'imported'])
    const placed = [{ ...(drafts[0] as object), seq: 12, at: later }] as never
    const changes = drafts.slice(1).map((draft) => {
      return ((typeof draft === 'function' ? draft(placed) : draft) as ReceiptDraft).changes
    })
    const held = { id: idOf(1), seq: 12, rank: 2, owner: 'role:architect', box: 'ada' }
    expect(changes).toEqual([
      [
        { ...held, wasBox: 'role:architect', state: 'shown', was: 'stored', attempts: 1, claim: 70 },
        { ...held, owner: 'ada', state: 'shown', viaGroup: true },
      ],
      [{ ...held, state: 'acked', was: 'shown' }],
    ])
  })

  test.each<[string, object, RegExp]>([
    ['a message that is nowhere', change(9, { state: 'shown' }), /^there is no message/],
    ['another agent', change(1, { owner: 'bob', box: 'bob', state: 'shown' }), /was not sent to bob$/],
    ['another group', change(1, { owner: 'all', box: 'all', state: 'expired' }), /was not sent to all$/],
    [
      'a claim that was made before',
      change(1, { owner: 'role:architect', state: 'shown', claim: 3 }),
      /^claim 3 on message \S+ follows claim 7$/,
    ],
  ])('refuses a step of %s', (_, wrong, said) => {
    const claimed = change(1, { owner: 'role:architect', state: 'shown', claim: 7 })
    const { drafts, result } = new ImportRun().decide(
      spaceOf([]),
      lines(sent(1), step({ step: 'claimed', changes: [claimed] }), step({ changes: [wrong] })),
    )
    expect(result).toMatchObject([
      'imported',
      'imported',
      { code: 'invalid', message: expect.stringMatching(said) },
    ])
    expect(drafts).toHaveLength(2)
  })

  test('passes over the steps of a message that was refused', () => {
    const run = new ImportRun()
    run.refuse(idOf(3))
    expect(run.decide(spaceOf([]), lines(step({ changes: [change(3, { state: 'shown' })] })))).toEqual({
      ...{ drafts: [], result: ['skipped'] },
    })
  })

  test('leaves the receipts of mail that was sent here alone', () => {
    const here = spaceOf([agent('ada')], mail(1, { id: idOf(1) }))
    expect(new ImportRun().decide(here, lines(sent(1), step(), step({ step: 'acked' })))).toEqual({
      ...{ drafts: [], result: ['skipped', 'skipped', 'skipped'] },
    })
  })

  /** A message that was imported, with the steps that came along. */
  function imported(number: number, steps: readonly object[], fields: object = {}) {
    const one = mail(number, { id: idOf(number), to: ['ada', 'role:architect'], ...fields })
    one.facts.imported = true
    one.steps = steps.map((given, at) => {
      const { at: originalAt, ...rest } = { ...step(), ...given } as ReturnType<typeof step>
      const changes = rest.changes.map((each) => ({ ...each, seq: number, rank: 1, was: 'stored' }))
      return { seq: 100 + at, at: later, originalAt, ...rest, changes } as unknown as ReceiptEntry
    })
    return one
  }
  const seen = (fields: object = {}) => step({ changes: [change(1, { state: 'shown' })], ...fields })
  const acked = (fields: object = {}) =>
    step({ step: 'acked', changes: [change(1, { state: 'acked' })], ...fields })
  const outcomes = (one: Mail, ...given: object[]) =>
    new ImportRun().decide(spaceOf([], one), lines(...given)).result

  test('that was cut short goes on with the steps that are missing', () => {
    expect(outcomes(imported(1, [seen()]), sent(1), seen(), acked())).toEqual([
      'skipped',
      'skipped',
      'imported',
    ])
    expect(outcomes(imported(1, []), seen(), acked())).toEqual(['imported', 'imported'])
    expect(outcomes(imported(1, [seen(), acked()]), seen(), acked())).toEqual(['skipped', 'skipped'])
  })

  test('adds nothing to a message that has other steps here', () => {
    for (const other of [
      { by: 'bob' },
      { at: sampleTime },
      { note: 'why' },
      { step: 'acked' },
      { changes: [change(1, { state: 'acked' })] },
    ])
      expect(outcomes(imported(1, [seen(other)]), seen(), acked())).toEqual(['skipped', 'skipped'])
  })

  test('adds nothing to a message that somebody has handled here, and lets the mailbox do what it does', () => {
    const own = (by: string) => ({ ...seen({ by }), at: undefined })
    expect(outcomes(imported(1, [seen(), own('ada')]), seen(), acked())).toEqual(['skipped', 'skipped'])
    expect(outcomes(imported(1, [seen(), own('system')]), seen(), acked())).toEqual(['skipped', 'imported'])
    // Once it is known, that holds for the rest of the run.
    const run = new ImportRun()
    const space = spaceOf([], imported(1, [own('ada')]))
    const results = [seen(), acked(), acked()].map((one) => run.decide(space, lines(one)).result[0])
    expect(results).toEqual(['skipped', 'skipped', 'skipped'])
  })

  test('takes a note that was encrypted when it was imported for the one that is imported again', () => {
    const sealed = 'sealed text'
    expect(outcomes(imported(1, [seen({ sealed })]), seen({ note: 'a secret' }), acked())).toEqual([
      'skipped',
      'imported',
    ])
    expect(outcomes(imported(1, [seen({ sealed })]), seen(), acked())).toEqual(['skipped', 'skipped'])
  })

  test('of a step of several messages takes the part of those that it is missing in', () => {
    const both = step({ changes: [change(1, { state: 'shown' }), change(2, { state: 'shown' })] })
    const here = spaceOf([], imported(1, [seen()]), imported(2, []))
    const { drafts, result } = new ImportRun().decide(here, lines(both))
    expect(result).toEqual(['imported'])
    expect((drafts[0] as ReceiptDraft).changes.map(({ id }) => id)).toEqual([idOf(2)])
    const run = new ImportRun()
    run.refuse(idOf(2))
    run.refuse(7)
    expect(run.decide(here, lines(both)).result).toEqual(['skipped'])
  })

  test('goes on from what the message has in the space', () => {
    const one = imported(1, [])
    one.receipts.find(({ owner }) => owner === 'role:architect')!.box = 'ada'
    one.claims = [
      { number: 7, by: 'ada', at: 0, run: 1, owner: 'role:architect' },
      { number: 9, by: 'bob', at: 0, run: 1, owner: 'all' },
    ] as never
    const claimed = (claim: number) =>
      step({ step: 'claimed', changes: [change(1, { owner: 'role:architect', state: 'shown', claim })] })
    const decide = (claim: number) => new ImportRun().decide(spaceOf([], one), lines(claimed(claim)))
    expect(decide(7).result).toMatchObject([
      { code: 'invalid', message: expect.stringMatching(/claim 7 .* follows claim 7$/) },
    ])
    const { drafts, result } = decide(8)
    expect(result).toEqual(['imported'])
    expect((drafts[0] as ReceiptDraft).changes).toEqual([
      {
        id: idOf(1),
        seq: 1,
        rank: 1,
        owner: 'role:architect',
        box: 'ada',
        state: 'shown',
        was: 'stored',
        claim: 8,
      },
    ])
    // In its own box again.
    const released = step({
      step: 'released',
      changes: [change(1, { owner: 'role:architect', box: 'role:architect', state: 'stored' })],
    })
    const [draft] = new ImportRun().decide(spaceOf([], one), lines(released)).drafts
    expect((draft as ReceiptDraft).changes[0]).toMatchObject({ box: 'role:architect', wasBox: 'ada' })
  })

  test('counts the steps of a message across its batches', () => {
    const run = new ImportRun()
    const first = imported(1, [])
    expect(run.decide(spaceOf([], first), lines(seen(), acked())).result).toEqual(['imported', 'imported'])
    const then = imported(1, [seen(), acked()])
    const failed = step({ step: 'failed', changes: [change(1, { state: 'failed' })] })
    expect(run.decide(spaceOf([], then), lines(failed)).result).toEqual(['imported'])
  })

  test('lets nobody in whose name looks like that of another', () => {
    const join = (name: string) => ({ kind: 'agent', at: later, agent: agent(name) })
    const space = spaceOf([agent('alice')])
    const { drafts, result } = new ImportRun().decide(
      space,
      lines(join('alicе'), join('bob'), join('bоb'), join('bob'), join('cy')),
    )
    expect(result).toEqual([
      expect.objectContaining({
        code: 'invalid',
        message: expect.stringMatching(/looks like "alice", another agent/),
      }),
      'imported',
      expect.objectContaining({ message: expect.stringMatching(/looks like "bob"/) }),
      ...['skipped', 'imported'],
    ])
    expect(drafts).toHaveLength(2)
  })

  test('takes a key that is shared once, whichever space it comes from', () => {
    const share = { kind: 'share', change: 'shared', signature: 'a.b.c' } as unknown as Lines[0]
    const space = (...known: string[]) => ({
      ...spaceOf([]),
      hasShare: (text: string) => known.includes(text),
    })
    const outcome = (...known: string[]) => new ImportRun().decide(space(...known), [share])
    expect(outcome('other')).toEqual({ drafts: [share], result: ['imported'] })
    expect(outcome('a.b.c')).toEqual({ drafts: [], result: ['skipped'] })
    expect(outcome('a.b').result).toEqual(['skipped'])
    expect(outcome('a').result).toEqual(['imported'])
  })

  test('does not hide a fault of its own as that of a line', () => {
    const broken = {
      ...spaceOf([]),
      message: () => {
        throw new TypeError('broken')
      },
    }
    expect(() => new ImportRun().decide(broken, lines(sent(1)))).toThrow(TypeError)
  })
})
