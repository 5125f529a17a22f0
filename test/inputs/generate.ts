import fc, { type Arbitrary } from 'fast-check'
import { inputFields } from '../../src/model/fields.ts'
import type { Corpora } from '../helpers/corpora.ts'

/** A call of a mailbox: what it is called with first, if anything, and the fields that go with it. */
export interface Call {
  operation: string
  /** The name of the first argument, where it is one of its own. */
  first?: { name: string; value: unknown }
  options: unknown
}

/** What every entry is given, in words of its own. */
export interface Inputs {
  text: Arbitrary<string>
  /** Any value of JSON. */
  json: Arbitrary<unknown>
  /** A document of JSON, right or wrong. */
  document: Arbitrary<string>
  /** Fields of `send`, most of them right. */
  message: Arbitrary<Record<string, unknown>>
  call: Arbitrary<Call>
}

/** `#12` stands for the id of a message that was sent before; {@link resolveIds} puts it in. */
const knownId = fc.nat(999).map((n) => `#${n}`)

const rarely = <T>(arbitrary: Arbitrary<T>, weight = 1) =>
  fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, { weight, arbitrary })

const surrogates = fc
  .array(fc.oneof(fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.nat(0x7f)), { maxLength: 8 })
  .map((codes) => String.fromCharCode(...codes))

/** A list in a list, and so on. */
const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

const names = ['ada', 'bob', 'cleo', 'user']
const addresses = [...names, 'all', 'role:worker', 'project:x', 'tag:handoff', 'broadcast:team']
const types = ['text', 'request', 'notification', 'broadcast', 'task', 'handoff', 'plan_approval_request']

/** Generated inputs. `wild` is what stands where something else is expected. */
export function inputsFrom({ texts, json: documents }: Corpora, wild: Arbitrary<unknown>): Inputs {
  const piece = fc.constantFrom(
    ...[
      '',
      ' ',
      '\n',
      '\r\n',
      '\0',
      '\u001b[2J',
      '\u202e',
      '__proto__',
      'constructor',
      '../',
      '"',
      "'",
      '\\',
    ],
    ...[
      '<<<mail',
      '>>>',
      '-',
      '--json',
      '%s',
      '$(x)',
      '`',
      'ada',
      'role:',
      '\ufeff',
      '\u0085',
      '🧵',
      '2026-11-15',
    ],
  )
  const text = fc.oneof(
    { weight: 5, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 30 }) },
    { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
    { weight: 4, arbitrary: fc.constantFrom(...texts) },
    { weight: 3, arbitrary: fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')) },
    { weight: 1, arbitrary: surrogates },
    { weight: 1, arbitrary: fc.tuple(piece, fc.nat(3_000)).map(([part, times]) => part.repeat(times)) },
  )
  const json = fc.oneof(
    { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    { weight: 2, arbitrary: text },
    { weight: 1, arbitrary: fc.dictionary(text, fc.oneof(text, fc.double(), fc.boolean()), { maxKeys: 4 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 80 }).map(nested) },
  )
  const document = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...documents) },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: text },
  )
  /** Mostly what is expected. */
  const or = <T>(arbitrary: Arbitrary<T>): Arbitrary<unknown> =>
    fc.oneof({ weight: 48, arbitrary }, { weight: 1, arbitrary: text }, { weight: 1, arbitrary: wild })
  const id = or(fc.oneof({ weight: 9, arbitrary: knownId }, { weight: 1, arbitrary: text }))
  const address = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...addresses) },
    { weight: 1, arbitrary: text },
  )
  const word = fc.oneof(fc.constantFrom('worker', 'project:x', 'handoff', 'a b'), text)
  const time = fc.oneof(
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.constantFrom('2026-11-15', '2099-01-01T00:00:00Z', 'tomorrow'),
  )
  const moment = fc.oneof(time, fc.constantFrom('15m', '9:00', 'tomorrow 9:00', 'mon 17:30', '25:00', '0m'))
  const number = fc.oneof(fc.nat(5), fc.integer(), fc.double())

  const byKind: Record<string, Arbitrary<unknown>> = {
    ...{ text, word, flag: fc.boolean(), json, time, moment, name: word },
    addresses: fc.oneof(address, fc.array(address, { maxLength: 3 })),
    priority: fc.constantFrom('low', 'normal', 'high', 'urgent', 1, 4, '2'),
    duration: fc.oneof(fc.nat(), fc.constant(null), number),
    list: fc.array(fc.oneof(word, text), { maxLength: 3 }),
    reference: fc.oneof(fc.boolean(), knownId),
    whole: fc.nat(3),
    object: fc.dictionary(text, json, { maxKeys: 3 }),
  }
  const ofField: Record<string, Arbitrary<unknown>> = {
    type: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...types) }, { weight: 1, arbitrary: text }),
    replyTo: knownId,
  }
  const usual = ['subject', 'body']
  const message = fc
    .record({
      ...Object.fromEntries(
        inputFields.map(({ name, kind }) => {
          const value = or(ofField[name] ?? byKind[kind]!)
          return [name, usual.includes(name) ? value : rarely(value)]
        }),
      ),
      to: or(
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(...addresses) },
          { weight: 2, arbitrary: byKind['addresses']! },
        ),
      ),
      extra: rarely(fc.tuple(text, wild)),
    })
    .map(({ extra, ...fields }) => {
      const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
      // One message in a hundred has a field that no message has.
      return extra !== undefined && extra[0].length % 10 === 9 ? { ...given, [extra[0]]: extra[1] } : given
    })

  const filter = fc.record({
    limit: rarely(or(number), 3),
    after: rarely(or(text)),
    from: rarely(or(fc.oneof(word, fc.array(word, { maxLength: 2 })))),
    type: rarely(or(word)),
    minPriority: rarely(or(byKind['priority']!)),
    unread: rarely(or(fc.boolean())),
    replyTo: rarely(id),
    tag: rarely(or(word)),
    thread: rarely(or(word)),
  })
  const note = fc.record({ note: rarely(or(text), 6), claimNumber: rarely(or(fc.nat(50))) })
  const roster = fc.record({
    addRoles: rarely(or(fc.array(word, { maxLength: 2 })), 4),
    removeTags: rarely(or(fc.array(word, { maxLength: 2 })), 4),
    state: rarely(or(fc.constantFrom('alive', 'idle', 'waiting', 'dead'))),
    note: rarely(or(text), 4),
  })
  const nothing = fc.constant({})
  const query = fc
    .array(
      fc.oneof(
        fc.constantFrom('from:ada', 'is:unread', 'before:2026', '-', 'tag:', 'has:attachment', '"'),
        text,
      ),
      { maxLength: 4 },
    )
    .map((words) => words.join(' '))
  const call = (operation: string, options: Arbitrary<unknown>, name?: string, value?: Arbitrary<unknown>) =>
    fc.record({
      operation: fc.constant(operation),
      options: or(options),
      ...(name === undefined ? {} : { first: fc.record({ name: fc.constant(name), value: value! }) }),
    }) as Arbitrary<Call>
  const ids = or(fc.array(id, { maxLength: 4 }))
  const timed = fc.record({ timeoutMs: or(fc.nat(3)), from: rarely(or(word)), count: rarely(or(fc.nat(3))) })
  const calls: [number, Arbitrary<Call>][] = [
    [60, call('send', message)],
    [8, call('reply', message, 'id', id)],
    [4, call('broadcast', message)],
    [2, call('withdraw', nothing, 'id', id)],
    [1, call('resend', fc.record({ to: or(byKind['addresses']!) }), 'id', id)],
    [2, call('inbox', filter)],
    [2, call('check', filter)],
    [4, call('read', nothing, 'id', id)],
    [1, call('unread', filter)],
    [2, call('takeAll', nothing, 'ids', ids)],
    [2, call('notified', nothing, 'ids', ids)],
    [2, call('thread', nothing, 'id', id)],
    [2, call('sent', filter)],
    [2, call('search', filter, 'query', or(query))],
    [4, call('show', nothing, 'id', id)],
    ...['ack', 'done', 'claim', 'start', 'release', 'retry', 'archive', 'fail'].map(
      (step): [number, Arbitrary<Call>] => [
        2,
        call(step, step === 'fail' ? fc.record({ reason: or(text) }) : note, 'id', id),
      ],
    ),
    [1, call('claimNext', fc.record({ ttlMs: rarely(or(number)) }), 'role', or(word))],
    [1, call('owed', fc.record({ kind: rarely(or(word), 3) }))],
    [1, call('awaited', fc.record({ kind: rarely(or(word), 3) }))],
    [1, call('template', nothing, 'name', or(text))],
    [2, call('update', roster)],
    [1, call('heartbeat', nothing)],
    [1, call('count', nothing)],
    [1, call('wait', timed)],
  ]
  return {
    text,
    json,
    document,
    message,
    call: fc.oneof(...calls.map(([weight, arbitrary]) => ({ weight, arbitrary }))),
  }
}

/** The next inputs of a run, the same for the same seed. */
export const sample = <T>(arbitrary: Arbitrary<T>, count: number, seed: number): T[] =>
  fc.sample(arbitrary, { numRuns: count, seed })

/** Puts ids of messages in the place of `#12` and the like, wherever they stand. */
export function resolveIds(value: unknown, known: readonly string[]): unknown {
  if (typeof value === 'string') {
    const number = /^#(\d{1,3})$/.exec(value)?.[1]
    return number === undefined || known.length === 0 ? value : known[Number(number) % known.length]
  }
  if (Array.isArray(value)) return value.map((one) => resolveIds(one, known))
  return value
}
