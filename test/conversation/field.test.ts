import { describe, expect, test } from 'vitest'
import { type Field, type Fields, fieldsOf, findMisfit, sayValue } from '../../src/conversation/field.ts'
import { checkPayload } from '../../src/conversation/payload.ts'
import { payloadSchemas, toSchema } from '../../src/conversation/schema.ts'
import { wordsOf } from '../../src/conversation/words.ts'

/** Of each kind: what it is, what it is not, and how that is said. */
const kinds: [Field['kind'], unknown[], unknown[], string][] = [
  ['text', ['', 'x'], [5, null, ['x']], 'text'],
  ['word', ['x', ' '], ['', 5, null], 'text that is not empty'],
  ['texts', [[], ['x', '']], ['x', [5], ['x', null], {}], 'a list of texts'],
  ['number', [0, -1.5], [Number.NaN, Number.POSITIVE_INFINITY, '5', null], 'a number'],
  ['whole', [0, -7], [0.5, '5', 2 ** 53], 'a whole number'],
  ['share', [0, 0.5, 1], [-0.1, 1.1, '0.5', Number.NaN], 'a number from 0 to 1'],
  ['duration', [0.5, 1e15], [0, -1, '5'], 'a number of milliseconds above 0'],
  ['boolean', [true, false], ['true', 0, null], 'true or false'],
  ['priority', ['low', 'urgent', 1, 4], ['asap', 0, 5, '1', ''], 'one of low, normal, high, urgent'],
  ['scalar', ['', 'x', 0], [true, null, [], Number.NaN], 'text or a number'],
  ['any', [null, 5, [], {}], [], 'JSON'],
  ['records', [[], [{}]], ['x', {}, null], 'a list of objects'],
]

describe.each(kinds)('a field of the kind %s', (kind, good, bad, what) => {
  const fields: Fields = { it: { kind } }

  test('fits, or says what would', () => {
    expect(good.map((value) => findMisfit(fields, { it: value }))).toEqual(good.map(() => undefined))
    expect(bad.map((value) => findMisfit(fields, { it: value }))).toEqual(
      bad.map(() => ({ path: ['it'], problem: `must be ${what}` })),
    )
  })

  test('has a schema that agrees', () => {
    const accepts = (value: unknown) =>
      toSchema(fields, { others: 'refused' }).safeParse({ it: value }).success
    expect([good.every(accepts), bad.some(accepts)]).toEqual([true, false])
  })
})

describe('the fields of an object', () => {
  const fields: Fields = {
    name: { kind: 'word', required: true },
    parts: { kind: 'records', fields: { size: { kind: 'whole', required: true }, note: { kind: 'text' } } },
  }

  test.each<[unknown, unknown]>([
    [{ name: 'x' }, undefined],
    [{ name: 'x', other: 5 }, undefined],
    [{ name: 'x', parts: [{ size: 1 }, { size: 2, note: 'n' }] }, undefined],
    [{}, { path: ['name'], problem: 'is missing' }],
    [
      { name: 'x', parts: [{ size: 1 }, {}] },
      { path: ['parts', '1', 'size'], problem: 'is missing' },
    ],
    [
      { name: 'x', parts: [5] },
      { path: ['parts', '0'], problem: 'must be an object' },
    ],
    [
      { name: 'x', parts: [{ size: 1, note: 5 }] },
      { path: ['parts', '0', 'note'], problem: 'must be text' },
    ],
    [[], { path: [], problem: 'must be an object' }],
    [null, { path: [], problem: 'must be an object' }],
  ])('%j: %j', (object, misfit) => {
    expect(findMisfit(fields, object)).toEqual(misfit)
    expect(toSchema(fields, { others: 'kept' }).safeParse(object).success).toBe(misfit === undefined)
  })

  test('that are not named are kept or refused', () => {
    const parse = (others: 'kept' | 'refused') =>
      toSchema(fields, { others }).safeParse({ name: 'x', other: 5 })
    expect([parse('kept').success, parse('refused').success]).toEqual([true, false])
  })

  test('are there only if it is one', () => {
    expect([fieldsOf({ a: 1 }), fieldsOf([1]), fieldsOf(null), fieldsOf('x')]).toEqual([{ a: 1 }, {}, {}, {}])
  })
})

describe('a value in words', () => {
  const loud = (value: string) => `${value}!`
  test.each<[Field, unknown, string[]]>([
    [{ kind: 'text' }, 'x', ['x']],
    [{ kind: 'number' }, 5, ['5']],
    [{ kind: 'any' }, { a: [1] }, ['{"a":[1]}']],
    [{ kind: 'any' }, [1, 'x'], ['1', 'x']],
    [{ kind: 'texts' }, ['x', 'y'], ['x', 'y']],
    [{ kind: 'texts', says: loud }, ['x', 'y'], ['x!', 'y!']],
    [{ kind: 'text', says: loud }, 'x', ['x!']],
    [{ kind: 'text', says: loud }, 5, ['5']],
    [{ kind: 'boolean' }, true, ['yes']],
    [{ kind: 'boolean' }, false, ['no']],
    [{ kind: 'boolean' }, 'maybe', ['maybe']],
    [{ kind: 'duration' }, 1_400, ['1 s']],
    [{ kind: 'duration' }, 119_000, ['119 s']],
    [{ kind: 'duration' }, 120_000, ['2 min']],
    [{ kind: 'duration' }, 7_199_000, ['120 min']],
    [{ kind: 'duration' }, 7_200_000, ['2 h']],
    [{ kind: 'duration' }, 'soon', ['soon']],
    [{ kind: 'duration' }, -5, ['-5']],
  ])('%j of %j', (field, value, words) => {
    expect(sayValue(field, value)).toEqual(words)
  })
})

describe('a payload in words', () => {
  const say = (type: string, payload: unknown, body = 'The text.') =>
    wordsOf({ from: 'ada', to: ['bob'], subject: '', type, payload: payload as never, body })

  test.each<[string, unknown, [string, string][], unknown]>([
    [
      'plan_approval',
      { approved: true, feedback: 'F' },
      [
        ['Verdict', 'approved'],
        ['Feedback', 'F'],
      ],
      undefined,
    ],
    ['plan_approval', { approved: false }, [['Verdict', 'rejected']], undefined],
    ['shutdown_response', { accepted: true }, [['Answer', 'accepted']], undefined],
    [
      'shutdown_response',
      { accepted: false, reason: 'R' },
      [
        ['Answer', 'deferred'],
        ['Reason', 'R'],
      ],
      undefined,
    ],
    [
      'shutdown_request',
      { reason: 'R', withinMs: 60_000 },
      [
        ['Reason', 'R'],
        ['Within', '60 s'],
      ],
      undefined,
    ],
    [
      'status_update',
      { taskId: 'T', status: 'S', progress: 0.256 },
      [
        ['Task', 'T'],
        ['Status', 'S'],
        ['Progress', '26 %'],
      ],
      undefined,
    ],
    [
      'status_response',
      { taskId: 7, status: 'S' },
      [
        ['Task', '7'],
        ['Status', 'S'],
      ],
      undefined,
    ],
    [
      'task_assignment',
      { taskId: 'T', withinMs: 60_000, own: { deep: 1 } },
      [
        ['Task', 'T'],
        ['Within', '60 s'],
      ],
      { own: { deep: 1 } },
    ],
    ['plan_submission', { taskId: 'T' }, [['Task', 'T']], undefined],
    ['help_request', { withinMs: 60_000 }, [['Within', '60 s']], undefined],
    ['status_request', { withinMs: 60_000 }, [['Within', '60 s']], undefined],
    [
      'escalation',
      { level: 1, reason: 'R', related: ['X', 'Y'] },
      [
        ['Level', '1'],
        ['Reason', 'R'],
        ['Related', 'X'],
        ['Related', 'Y'],
      ],
      undefined,
    ],
    [
      'fix_ci_failure',
      { check: 'c', pr: 7, url: 'u', branch: 'b', commit: 'k', error: { e: 1 }, log: 'l' },
      [
        ['Check', 'c'],
        ['PR', '7'],
        ['URL', 'u'],
        ['Branch', 'b'],
        ['Commit', 'k'],
        ['Error', '{"e":1}'],
        ['Log', 'l'],
      ],
      undefined,
    ],
    [
      'fix_review_comments',
      { pr: 7, url: 'u', comments: [{ body: 'x' }, { path: 'a', line: 3, body: 'y' }] },
      [
        ['PR', '7'],
        ['URL', 'u'],
        ['Comment', 'x'],
        ['Comment', 'a:3 y'],
      ],
      undefined,
    ],
    ['plan_approval', { toString: { x: 1 } }, [], { toString: { x: 1 } }],
    ['text', { a: 1 }, [], { a: 1 }],
    ['plan_approval', [1], [], [1]],
  ])('%s: %j', (type, payload, facts, rest) => {
    expect(say(type, payload)).toMatchObject({
      ...{ facts: facts.map(([label, text]) => ({ label, text })), others: [], payload: rest },
    })
  })

  test('says plain values that nobody declared under the names that the sender gave them', () => {
    const { facts, others, payload } = say('task_assignment', {
      ...{ taskId: 'T', blockedBy: ['1', '2'], retry_count: 3, isLate: true, deep: { own: 1 }, mixed: [{}] },
    })
    expect(facts).toEqual([{ label: 'Task', text: 'T' }])
    expect(others).toEqual([
      { label: 'Blocked by', text: '1, 2' },
      { label: 'Retry count', text: '3' },
      { label: 'Is late', text: 'true' },
    ])
    expect(payload).toEqual({ deep: { own: 1 }, mixed: [{}] })
  })

  test('leaves the payload of a type that is no conversation, and of no type, to programs', () => {
    expect(say('text', { n: 1 })).toMatchObject({ facts: [], others: [], payload: { n: 1 } })
    expect(say('gossip', { n: 1 })).toMatchObject({ facts: [], others: [], payload: { n: 1 } })
  })

  test('repeats nothing of a notice, whose body says it all', () => {
    const notice = { from: 'system', to: ['ada'], type: 'error', subject: 'S', body: 'B' }
    expect(wordsOf({ ...notice, payload: { undelivered: [{ id: 'x' }] } })).toMatchObject({
      ...{ body: 'B', facts: [], others: [], payload: undefined },
    })
  })

  test('is not taken for said because a longer word has it', () => {
    const branches = (body: string) => say('fix_ci_failure', { branch: 'main' }, body).facts.length
    expect([
      branches('It remains.'),
      branches('On main.'),
      branches('MAIN'),
      branches('domain, main'),
    ]).toEqual([...[1, 0, 0, 0]])
  })

  test('does not repeat what the body says, nor say nothing', () => {
    expect(say('plan_approval', { approved: true, feedback: 'Keep it.' }, 'Keep it. Yes.').facts).toEqual([
      { label: 'Verdict', text: 'approved' },
    ])
    expect(say('status_update', { status: '' }, 'The body.').facts).toEqual([])
  })
})

describe('the context of a message', () => {
  const body = '**State:** half done\n\n**Next:**\n- first\n- second'
  const left = (context: object | undefined, text: string) =>
    wordsOf({ from: 'ada', to: ['bob'], type: 'text', subject: '', body: text, context: context as never })
      .context

  test.each<[Record<string, unknown> | undefined, object | undefined]>([
    [undefined, undefined],
    [{}, undefined],
    [{ state: 'half done', next: ['first', 'second'] }, undefined],
    [{ state: 'half', other: 'else' }, { other: 'else' }],
    [{ next: ['first', 'third'] }, { next: ['first', 'third'] }],
    [{ state: 'done' }, { state: 'done' }],
    [{ n: 5 }, { n: 5 }],
    [{ deep: { state: 'half done' } }, { deep: { state: 'half done' } }],
  ])('%j is said besides the body as %j', (context, besides) => {
    expect(left(context, body)).toEqual(besides)
  })

  test('that is no text is not in the body, whatever that says', () => {
    expect(left({ n: 5 }, '- 5')).toEqual({ n: 5 })
  })
})

describe('the payload of a message', () => {
  test.each<[string | undefined, unknown, boolean]>([
    [undefined, { anything: 1 }, false],
    ['text', 5, true],
    ['plan_approval', undefined, false],
    ['plan_approval', { approved: true }, true],
    ['status_request', undefined, true],
    ['task_assignment', { taskId: 'T', own: [] }, false],
  ])('of a %s may be %j', (type, payload, isReply) => {
    expect(() => checkPayload(type, payload, isReply)).not.toThrow()
  })

  test.each<[string, unknown, boolean, string]>([
    ['plan_approval', undefined, true, 'payload of a plan_approval must be an object'],
    ['plan_approval', {}, false, 'payload.approved of a plan_approval is missing'],
    ['task_assignment', { taskId: 5 }, false, 'payload.taskId of a task_assignment must be text'],
    ['status_request', 5, false, 'payload of a status_request must be an object'],
  ])('of a %s may not be %j', (type, payload, isReply, said) => {
    const names = type === 'plan_approval' ? 'approved, feedback' : expect.stringContaining('withinMs')
    expect(() => checkPayload(type, payload, isReply)).toThrow(
      expect.objectContaining({
        ...{ code: 'invalid', message: said },
        hint: typeof names === 'string' ? `a ${type} has ${names}` : names,
      }),
    )
  })

  test('is described for programs in other languages', () => {
    const schemas = payloadSchemas() as Record<string, object>
    expect(Object.keys(schemas)).not.toContain('text')
    // Fields that others add are allowed.
    expect(schemas['plan_approval']).toHaveProperty('additionalProperties', {})
    expect(schemas['plan_approval']).toMatchObject({
      type: 'object',
      properties: { approved: { type: 'boolean' }, feedback: { type: 'string' } },
      required: ['approved'],
    })
  })
})
