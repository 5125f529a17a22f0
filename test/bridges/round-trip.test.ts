import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { given } from '../../src/base/objects.ts'
import type { Letter } from '../../src/bridges/format.ts'
import { formatNamed } from '../../src/bridges/registry.ts'
import type { SendInput } from '../../src/model/fields.ts'
import type { Message } from '../../src/model/message.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { mailOf, type Stage, stageIn } from './stage.ts'

const rounds = inStorm(1_000, 40)

/** Where ann has her mail in each format, so that she is there. */
const places: Record<string, { dir: string; file: string; ann: string }> = {
  adr003: { dir: 'mailboxes/ann/inbox', file: 'mailboxes/ann/inbox/MSG-ID.json', ann: 'ann' },
  haak: { dir: '', file: 'agent-mailbox.jsonl', ann: 'ann' },
  'jean-claude': { dir: 'ann/mailbox', file: 'ann/mailbox/inbox.jsonl', ann: 'ann' },
  ao: { dir: 'ann/inbox', file: 'ann/inbox/ID.json', ann: 'ann' },
  ralph: { dir: 'alpha/mailbox', file: 'alpha/mailbox/ann.jsonl', ann: 'alpha/ann' },
}
const names = Object.keys(places)

const text = fc.string({ unit: 'grapheme', maxLength: 60 })
const word = fc.stringMatching(/^[a-z][a-z_]{0,12}$/)
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => JSON.stringify(value) !== '{}')
/** What `send` accepts: no number that another program would read as a different one. */
const payload = json
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)
  .filter((value) => !/\d{16}|e\+/.test(JSON.stringify(value)))

/** `answers`: which of those before it, if any. */
const letters: fc.Arbitrary<Omit<SendInput, 'to'> & { answers?: number }> = fc.record(
  {
    answers: fc.nat({ max: 10_000 }),
    threadId: word.map((value) => `topic-${value}`),
    ttlMs: fc.constantFrom(null, 3_600_000, 90_061_001),
    subject: text,
    body: text,
    priority: fc.constantFrom('low', 'normal', 'high', 'urgent'),
    type: fc.constantFrom('text', 'notification', 'my_type', 'request', 'handoff'),
    requiresAck: fc.boolean(),
    awaitingResponse: fc.boolean(),
    tags: fc.uniqueArray(
      fc.oneof(
        word,
        word.map((value) => `project:${value}`),
      ),
      { maxLength: 3 },
    ),
    attachments: fc.uniqueArray(word, { maxLength: 3 }),
    swarm: word,
    payload,
    context: fc.dictionary(word, payload, { minKeys: 1, maxKeys: 3 }),
  },
  { requiredKeys: [] },
)

async function twoSpaces(format: string) {
  const folder = tempDir()
  const { dir, ann } = places[format]!
  mkdirSync(join(folder, dir), { recursive: true })
  const sides: Stage[] = []
  // Answers to answers go on for longer than agents may without a person.
  const settings = { 'limits.threadMessages': 0 }
  for (let n = 0; n < 2; n++) sides.push(stageIn(await tempSpace({ settings }), format, folder))
  return { ann, folder, one: sides[0]!, two: sides[1]! }
}

/** The fields of a message that a format has a place for. `mail`: all messages, in order. */
function kept(message: Message, format: string, mail: readonly Message[]): object {
  const { cannotHold } = formatNamed(format)
  const { from, subject, body, type, priority, requiresAck, awaitingResponse, tags, attachments } = message
  const all: Partial<Record<keyof Letter, unknown>> = {
    ...{ from: from.replace(/^alpha\//, ''), subject, body, type, priority, requiresAck, awaitingResponse },
    ...{ tags, attachments, swarm: message.swarm, payload: message.payload, context: message.context },
    // Each side has ids of its own: what is answered is told by its place.
    replyTo: message.replyTo && String(mail.findIndex(({ id }) => id === message.replyTo)),
    // A thread that is called after a message is called otherwise there.
    thread: message.threadId.startsWith('topic-') ? message.threadId : undefined,
    expiresAt: message.expiresAt,
  }
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => !cannotHold.includes(name as keyof Letter)),
  )
}

/** Two fields that a format has one place for. */
const merged = (format: string, message: Message): Message =>
  format === 'haak'
    ? { ...message, body: [message.subject, message.body].filter(Boolean).join('\n\n') }
    : format === 'jean-claude' && message.priority === 'high'
      ? { ...message, priority: 'normal' }
      : message

describe.each(names)('%s', (format) => {
  it('brings back what was written there, but for what it cannot hold', { timeout: 600_000 }, async () => {
    const { one, two, ann } = await twoSpaces(format)
    await one.space.join('zoe')
    await one.space.join(ann, { session: { client: 'bridge' } })
    if (format === 'haak') one.put('agent-roster.json', [{ session_id: 'ann', tags: [] }])
    if (format === 'ralph') one.put('alpha/mailbox/ann.jsonl', '')
    await one.sync()
    const zoe = one.space.mailboxInside('zoe')
    const sent: Message[] = []
    for (const { answers, threadId, ...letter } of fc.sample(letters, { numRuns: rounds, seed: 7 })) {
      const parent = answers === undefined ? undefined : sent[answers % (sent.length || 1)]
      const where = parent === undefined ? given({ threadId }) : { replyTo: parent.id }
      sent.push(await zoe.send({ ...letter, ...where, to: ann, type: letter.type ?? 'text' }))
    }
    expect((await one.sync()).written).toBe(rounds)
    expect((await two.sync()).brought).toBe(rounds)
    const there = await allMail(two, ann)
    expect(there).toHaveLength(rounds)
    for (const [at, message] of sent.entries())
      expect(kept(there[at]!, format, there), `message ${at}`).toEqual(
        kept(merged(format, message), format, sent),
      )
    // Nothing comes back as something new.
    expect((await one.sync()).brought).toBe(0)
  })

  it('writes what it found elsewhere byte for byte', { timeout: 600_000 }, async () => {
    const { file } = places[format]!
    const space = await tempSpace({ settings: { 'limits.threadMessages': 0 } })
    const [from, to] = [stageIn(space, format, tempDir()), stageIn(space, format, tempDir())]
    for (const side of [from, to]) mkdirSync(join(side.folder, places[format]!.dir), { recursive: true })
    if (format === 'haak')
      for (const side of [from, to]) side.put('agent-roster.json', [{ session_id: 'ann', tags: [] }])
    if (format === 'ralph') to.put('alpha/mailbox/ann.jsonl', '')
    const foreign = fc.sample(foreignTexts(format), { numRuns: rounds, seed: 7 })
    const isLines = file.endsWith('.jsonl')
    if (isLines) from.put(file, foreign.map((one, at) => `${one.replaceAll('ID', `m${at}`)}\n`).join(''))
    else
      for (const [at, one] of foreign.entries())
        from.put(file.replace('ID', `m${at}`), one.replaceAll('ID', `m${at}`))
    await to.sync()
    const { brought } = await from.sync()
    expect([brought, from.problems]).toEqual([rounds, []])
    await to.sync()
    if (isLines) {
      expect(new Set(to.text(file).split('\n'))).toEqual(new Set(from.text(file).split('\n')))
    } else {
      const bytes = (side: Stage) =>
        side
          .files(places[format]!.dir)
          .map((one) => side.text(one))
          .sort()
      expect(bytes(to)).toEqual(bytes(from))
    }
  })
})

async function allMail({ space }: Stage, name: string): Promise<Message[]> {
  const found: Message[] = []
  for await (const { entry } of space.entries(0))
    if (entry.kind === 'message' && entry.message.to.includes(name)) found.push(entry.message)
  return found.length === 0 ? mailOf(space, name) : found
}

/** What another program could have written: the fields of the format with any values, and more. */
function foreignTexts(format: string): fc.Arbitrary<string> {
  const base: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
    adr003: {
      id: fc.constant('MSG-ID'),
      from_agent: fc.constant('bob'),
      to_agent: fc.constant('ann'),
      swarm_name: fc.option(word),
      type: fc.constantFrom('request', 'response', 'notification', 'handoff', 'escalation'),
      subject: text,
      body: text,
      payload: fc.dictionary(word, json),
      priority: fc.constantFrom(1, 2, 3, 4),
      created_at: fc.constantFrom('2026-01-03T14:30:00', '2026-01-03T14:30:00.123456'),
      expires_at: fc.constantFrom(null, '2030-01-03T14:30:00', '2099-01-03T14:30:00.000001'),
      status: fc.constant('unread'),
      read_at: fc.constant(null),
      completed_at: fc.constant(null),
      reply_to: fc.constantFrom(null, 'MSG-ffffffffffff', 'MSG-m0'),
      thread_id: fc.option(word),
      attachments: fc.array(text, { maxLength: 3 }),
      context: fc.dictionary(word, json),
      tags: fc.array(text, { maxLength: 3 }),
    },
    haak: {
      id: fc.constant('ID'),
      sender: fc.constant('bob'),
      recipient: fc.constant('ann'),
      timestamp: fc.constantFrom('2026-03-16T14:30:00Z', '2026-03-16T14:30:00.123456+00:00'),
      content: text,
      thread: fc.option(word),
      ttl_hours: fc.constantFrom(null, 20_000, 1_000_000, 0),
      read_by: fc.constant([]),
    },
    // As the amendment of its protocol has it.
    'haak, amended': {
      id: fc.constant('ID'),
      from: fc.constant('bob'),
      to: fc.constant('ann'),
      timestamp: fc.constant('2026-03-16T14:30:00Z'),
      subject: text,
      body: text,
    },
    'jean-claude': {
      id: fc.constant('ID'),
      from: fc.constant('bob'),
      to: fc.constant('ann'),
      type: word,
      subject: text,
      body: text,
      priority: fc.constantFrom('urgent', 'normal', 'low'),
      created_at: fc.constant('2026-03-16T14:30:00'),
      awaiting_response: fc.boolean(),
    },
    ao: {
      id: fc.constant('ID'),
      from: fc.constant('bob'),
      to: fc.constant('ann'),
      timestamp: fc.constant('2026-02-16T20:45:00.000Z'),
      type: fc.constantFrom('status_request', 'shutdown', 'text', 'error'),
      priority: fc.constantFrom('urgent', 'high', 'normal', 'low'),
      payload: fc.dictionary(word, json),
      requiresAck: fc.boolean(),
      replyTo: fc.constantFrom(undefined, 'm0', 'nowhere'),
    },
    ralph: {
      MessageId: fc.constant('ID'),
      FromAgentId: fc.constant('bob'),
      ToAgentId: fc.constant('ann'),
      Type: fc.constantFrom(
        ...['Text', 'StatusUpdate', 'ShutdownRequest', 'ShutdownResponse', 'PlanSubmission', 'PlanApproval'],
        ...['TaskAssignment', 'Broadcast', 0, 1, 7, 'Unheard'],
      ),
      Content: text,
      Metadata: fc.option(fc.dictionary(word, text)),
      Timestamp: fc.constantFrom('2026-02-16T20:45:00.1234567Z', '2026-02-16T20:45:00.000Z'),
    },
  }
  const extra = fc.dictionary(word, json, { maxKeys: 2 })
  const indent = format === 'ao' || format === 'adr003' ? fc.constantFrom(0, 2, 3) : fc.constant(0)
  const shapes = Object.keys(base).filter((name) => name.split(',')[0] === format)
  return fc
    .tuple(fc.oneof(...shapes.map((name) => fc.record(base[name]!))), extra, indent)
    .map(([fields, more, blanks]) => JSON.stringify({ ...more, ...fields }, null, blanks))
}
