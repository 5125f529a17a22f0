import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type InboxOptions,
  type LocalSpace,
  type Mailbox,
  MailboxError,
  openSpace,
  priorities,
} from '../../src/mod.ts'
import { inStorm, isStorm } from '../helpers/storm.ts'
import { type PlainSettings, PlainSpace, Refused, type Step } from './plain-model.ts'

/**
 * Random histories, played to the library and to the plain model at once. Every command must end in the
 * same way in both, whatever is due after it must be done and told in both, and after every history
 * everybody's mail must be the same.
 */
const histories = inStorm(1_000, 80)

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

const names = ['ada', 'bob', 'zed', 'late', 'user']
const roles = ['r', 's']
const tags = ['project:p', 'swarm:w']
const addresses = [
  ...['ada', 'agent:bob', 'zed', 'late', 'user', 'nobody'],
  ...['role:r', 'role:s', 'r', 's', 'agent:r'],
  ...['project:p', 'swarm:w', 'broadcast:w', 'all', '*'],
]

type Command =
  | { do: 'join'; who: string; roles?: string[] | undefined; tags?: string[] | undefined }
  | {
      do: 'update'
      who: string
      addRoles?: string[]
      removeRoles?: string[]
      addTags?: string[]
      removeTags?: string[]
    }
  | { do: 'leave'; who: string; frozen: boolean }
  | {
      do: 'send'
      who: string
      to: string[]
      rank: number
      ttlMs?: number | null | undefined
      key?: string | undefined
      exclude: string[]
      hold: boolean
      requiresAck?: boolean
      bound?: boolean
    }
  | { do: 'reply'; who: string; which: number; supersede: boolean }
  | { do: 'resend'; who: string; which: number; to: string }
  | { do: 'check'; who: string; all: boolean }
  | { do: 'read'; who: string; which: number }
  | { do: 'step'; who: string; step: Step; which: number; ttlMs?: number | undefined }
  | { do: 'claimNext'; who: string; role: string; ttlMs?: number | undefined }
  | { do: 'withdraw'; who: string; which: number }
  | { do: 'pass'; ms: number }

// What may happen

const who = fc.constantFrom(...names)
const which = fc.nat({ max: 30 })
const rank = fc.constantFrom(1, 1, 1, 0, 2, 3)
const some = (from: string[], maxLength = 2) => fc.uniqueArray(fc.constantFrom(...from), { maxLength })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 })
const ttlMs = fc.constantFrom(undefined, undefined, undefined, null, minute, 20 * minute)
const claimTtlMs = fc.constantFrom(undefined, undefined, minute)
const steps: Step[] = [
  'claimed',
  'acked',
  'processing',
  'completed',
  'failed',
  'released',
  'retried',
  'archived',
]

const commands: { weight: number; arbitrary: fc.Arbitrary<Command> }[] = [
  {
    weight: 13,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      who,
      to: fc.uniqueArray(fc.constantFrom(...addresses.filter((to) => to !== 'nobody')), {
        minLength: 1,
        maxLength: 3,
      }),
      rank,
      ttlMs,
      key: fc.constantFrom(undefined, undefined, undefined, 'k1', 'k2'),
      exclude: some(names, 1),
      hold: fc.boolean(),
      requiresAck: fc.constantFrom(false, false, true),
      bound: fc.constant(false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      who,
      to: some(addresses, 2).map((to) => [...to, 'nobody']),
      rank,
      exclude: fc.constant<string[]>([]),
      hold: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('reply' as const), who, which, supersede: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('resend' as const),
      who,
      which,
      to: fc.constantFrom(...addresses),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('check' as const), who, all: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), who, which }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('step' as const),
      who,
      step: fc.constantFrom(...steps),
      which,
      ttlMs: claimTtlMs,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('claimNext' as const),
      who,
      role: fc.constantFrom(...roles),
      ttlMs: claimTtlMs,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('withdraw' as const), who, which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('join' as const),
      who,
      roles: maybe(some(roles)),
      tags: maybe(some(tags)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      who,
      addRoles: some(roles, 1),
      removeRoles: some(roles, 1),
      addTags: some(tags, 1),
      removeTags: some(tags, 1),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(second, minute, 5 * minute, 15 * minute, 15 * minute, 3 * hour, 25 * hour),
    }),
  },
]

/** How the space is set up. Little is tried twice before it counts, so that histories get there. */
const settings: fc.Arbitrary<PlainSettings> = fc.record({
  rules: fc.constantFrom('open' as const, 'open' as const, 'open' as const, 'hub' as const),
  leads: fc.constantFrom(['s'], ['lead', 's'], ['lead']),
  maxAttempts: fc.constantFrom(2, 2, 3, 5),
  ackTimeoutMs: fc.constant(0),
  ackRepeats: fc.constantFrom(1, 1, 2),
  urgentAfterMs: fc.constant(0),
  staleAfterMs: fc.constant(0),
  silentAfterMs: fc.constant(0),
  deadLetterAfterMs: fc.constantFrom(5 * minute, 5 * minute, 0),
  'limits.ratePerMinute': fc.constantFrom(0, 0, 0, 3),
  'limits.inbox': fc.constantFrom(0, 0, 0, 3),
})

/** Far more steps than sends would all miss; so many of each kind that histories go somewhere. */
const weighted = commands.flatMap(({ weight, arbitrary }) => Array.from({ length: weight }, () => arbitrary))

// How it is played

interface Real {
  space: LocalSpace
  mailboxes: Map<string, Mailbox>
  /** Everything the system has said, in the words of the plain model. */
  notices: string[]
  /** Ids of messages by their number. */
  ids: string[]
}

const verbs = {
  acked: 'ack',
  processing: 'start',
  completed: 'done',
  released: 'release',
  retried: 'retry',
  archived: 'archive',
} as const

/** The outcome of a command: what it gave, or the code it was refused with. */
type Outcome = { gave: unknown } | { refused: string }

function playPlain(model: PlainSpace, command: Command): Outcome {
  try {
    return { gave: applyPlain(model, command) ?? null }
  } catch (error) {
    if (error instanceof Refused) return { refused: error.code }
    throw error
  }
}

function applyPlain(model: PlainSpace, command: Command): unknown {
  switch (command.do) {
    case 'join':
      return model.join(command.who, command.roles, command.tags)
    case 'update':
      return model.update(command.who, command)
    case 'leave':
      return model.leave(command.who, command.frozen)
    case 'send': {
      const { ttlMs: life, key, ...rest } = command
      return model.send(command.who, {
        ...rest,
        ...(life === undefined ? {} : { ttlMs: life }),
        ...(key === undefined ? {} : { key }),
      })
    }
    case 'reply':
      return model.reply(command.who, pick(model, command.which), command.supersede)
    case 'resend':
      return model.resend(command.who, pick(model, command.which), [command.to])
    case 'check':
      return model.check(command.who, command.all)
    case 'read':
      return model.read(command.who, pick(model, command.which))
    case 'step': {
      const number = pick(model, command.which)
      if (command.step === 'claimed') return model.claim(command.who, number, command.ttlMs)
      return model.step(command.who, command.step, number)
    }
    case 'claimNext':
      return model.claimNext(command.who, command.role, command.ttlMs)
    case 'withdraw':
      return model.withdraw(command.who, pick(model, command.which))
    case 'pass':
      model.now += command.ms
      return null
  }
}

const pick = ({ messages }: PlainSpace, at: number) => at % messages.length

async function playReal(real: Real, model: PlainSpace, command: Command): Promise<Outcome> {
  try {
    return { gave: (await applyReal(real, model, command)) ?? null }
  } catch (error) {
    if (error instanceof MailboxError) return { refused: error.code }
    throw error
  }
}

async function applyReal(real: Real, model: PlainSpace, command: Command): Promise<unknown> {
  if (command.do === 'pass') return null
  if (command.do === 'join') {
    const { roles: asRoles, tags: asTags } = command
    const input = {
      ...(asRoles === undefined ? {} : { roles: asRoles }),
      ...(asTags === undefined ? {} : { tags: asTags }),
    }
    return (await real.space.join(command.who, input)).session.generation
  }
  const mailbox = await mailboxOf(real, command.who)
  const id = 'which' in command ? real.ids[pick(model, command.which)]! : ''
  const ttl =
    'ttlMs' in command && command.do !== 'send' && command.ttlMs !== undefined ? { ttlMs: command.ttlMs } : {}
  switch (command.do) {
    case 'update': {
      const { addRoles = [], removeRoles = [], addTags = [], removeTags = [] } = command
      await mailbox.update({ addRoles, removeRoles, addTags, removeTags })
      return null
    }
    case 'leave':
      await mailbox.leave({ frozen: command.frozen })
      return null
    case 'send': {
      const { to, exclude, hold, ttlMs: life, key, requiresAck = false, bound } = command
      const optional = {
        ...(life === undefined ? {} : { ttlMs: life }),
        ...(key === undefined ? {} : { key }),
        ...(bound ? { type: 'shutdown_request' } : {}),
      }
      const priority = priorities[command.rank]!
      return numberOf(
        real,
        (await mailbox.send({ to, exclude, hold, priority, requiresAck, ...optional })).id,
      )
    }
    case 'reply':
      return numberOf(real, (await mailbox.reply(id, { supersede: command.supersede })).id)
    case 'resend':
      return numberOf(real, (await mailbox.resend(id, command.to)).id)
    case 'check': {
      const { messages } = await mailbox.check({ budgetTokens: command.all ? 1_000_000 : 1 })
      return messages.map((message) => numberOf(real, message.id))
    }
    case 'read':
      return (await mailbox.read(id)).state
    case 'step':
      if (command.step === 'claimed') await mailbox.claim(id, ttl)
      else if (command.step === 'failed') await mailbox.fail(id, { reason: 'because' })
      else await mailbox[verbs[command.step as keyof typeof verbs]](id)
      return null
    case 'claimNext': {
      const claimed = await mailbox.claimNext(command.role, ttl)
      return claimed === null ? null : numberOf(real, claimed.message.id)
    }
    case 'withdraw':
      await mailbox.withdraw(id)
      return null
  }
}

async function mailboxOf({ space, mailboxes }: Real, name: string): Promise<Mailbox> {
  const mailbox = mailboxes.get(name) ?? (await space.mailbox(name, { join: false }))
  mailboxes.set(name, mailbox)
  return mailbox
}

/** The number of a message; a new one gets the next. */
function numberOf({ ids }: Real, id: string): number {
  const known = ids.indexOf(id)
  return known >= 0 ? known : ids.push(id) - 1
}

/** Commands with which the system may have something to say at once. */
const tells: Command['do'][] = ['join', 'update', 'leave', 'check', 'step', 'claimNext']

/** Does what is due in both, and compares what the system has said. */
async function tend(model: PlainSpace, real: Real): Promise<void> {
  if ((await real.space.runDue()) > 0) await gatherNotices(model, real)
  model.runDue()
  expect(real.notices, 'what the system has said').toEqual(model.notices)
}

/** Puts what the system has said since into the words of the plain model. */
async function gatherNotices(model: PlainSpace, real: Real): Promise<void> {
  const system = await mailboxOf(real, 'system')
  const { messages } = await system.sent({ limit: 100 })
  for (const { id, to, payload } of messages.filter((one) => !real.ids.includes(one.id)).reverse()) {
    numberOf(real, id)
    const { undelivered, ...one } = payload as unknown as Said & {
      undelivered?: { id: string; to: string }[]
    }
    const letters = undelivered?.map((letter) => `${numberOf(real, letter.id)} to ${letter.to}`).sort()
    const what =
      letters === undefined
        ? `${one.reason}: ${numberOf(real, one.id)} to ${one.recipient}`
        : `not delivered: ${letters.join(', ')}`
    real.notices.push(`${to[0]}: ${what}`)
  }
  model.order = real.notices.slice(model.notices.length)
}

interface Said {
  id: string
  recipient: string
  reason: string
}

class Played implements fc.AsyncCommand<PlainSpace, Real> {
  readonly #command: Command

  constructor(command: Command) {
    this.#command = command
  }

  check({ agents, messages }: Readonly<PlainSpace>): boolean {
    const command = this.#command
    if ('which' in command && messages.length === 0) return false
    if (command.do === 'pass') return true
    if (command.do === 'join') return command.who !== 'user'
    // Whoever was only taken for dead may come back; whoever has left has to join.
    const agent = agents.get(command.who)
    return agent !== undefined && (agent.state !== 'dead' || agent.gone === 'silent')
  }

  async run(model: PlainSpace, real: Real): Promise<void> {
    tally.commands++
    const found = await playReal(real, model, this.#command)
    if (tells.includes(this.#command.do)) await gatherNotices(model, real)
    const expected = playPlain(model, this.#command)
    // Whoever reads what is not for it is shown the message and no standing of its own.
    const strangers = this.#command.do === 'read' && 'gave' in expected && expected.gave === null
    if (!strangers) expect(found, this.toString()).toEqual(expected)
    if (this.#command.do === 'pass') await compareLook(model, real)
    await tend(model, real)
  }

  toString(): string {
    const { do: verb, ...rest } = this.#command
    return `${verb} ${JSON.stringify(rest)}`
  }
}

// What must agree

async function compare(model: PlainSpace, real: Real): Promise<void> {
  const states = (await real.space.agents()).map(({ name, state }) => [name, state])
  expect(Object.fromEntries(states)).toEqual(
    Object.fromEntries([...model.agents.values()].map(({ name, state }) => [name, state])),
  )
  for (const { name, state } of model.agents.values()) {
    if (state !== 'dead') await compareMail(model, real, name)
  }
  for (const number of real.ids.keys()) await compareMessage(model, real, number)
  const { letters } = await real.space.deadLetters({ limit: 1_000 })
  expect(
    letters.map(({ message, recipient }) => `${real.ids.indexOf(message.id)} to ${recipient}`).sort(),
    'dead letters',
  ).toEqual(model.deadLetters().sort())
  // To build the index anew takes longer than everything else together.
  const deep = model.messages.length % 3 === 0
  expect((await real.space.verify({ deep })).problems).toEqual([])
}

/** Time has passed and nobody has done what is due: whoever looks sees what is over, and what is free again. */
async function compareLook(model: PlainSpace, real: Real): Promise<void> {
  // One of them at a time; over many histories it is everybody's turn.
  const awake = [...model.agents.values()].filter(({ state }) => state === 'alive')
  const { name } = awake[model.messages.length % awake.length]!
  const mailbox = await mailboxOf(real, name)
  const { messages } = await mailbox.inbox({ limit: 1_000 })
  expect(
    messages.map((one) => ({ number: real.ids.indexOf(one.id), state: one.state })),
    `inbox of ${name} before anything is done about it`,
  ).toEqual(model.inbox(name))
  expect((await mailbox.count()).unread, `count of ${name} before that`).toBe(
    model.inbox(name, 'unread').length,
  )
}

async function compareMail(model: PlainSpace, real: Real, name: string): Promise<void> {
  const mailbox = await mailboxOf(real, name)
  const list = async (options: InboxOptions) =>
    (await mailbox.inbox({ limit: 1_000, ...options })).messages
      // Whether finished mail includes what was taken back unseen is nobody's business.
      .filter(({ state }) => state !== 'withdrawn')
      .map(({ id, state }) => ({ number: real.ids.indexOf(id), state }))
  // One kind of list at a time; over many histories it is everybody's turn with each.
  const which = (['open', 'unread', 'all'] as const)[(model.messages.length + name.length) % 3]!
  const options = { open: {}, unread: { unread: true }, all: { all: true } }[which]
  expect(await list(options), `${which} mail of ${name}`).toEqual(model.inbox(name, which))
  const { unread, byPriority } = await mailbox.count()
  const counted = priorities.map((priority) => byPriority[priority])
  expect([unread, ...counted], `count of ${name}`).toEqual([
    model.inbox(name, 'unread').length,
    ...model.count(name),
  ])
}

const marks: string[] = ['repeated', 'escalated', 'stale', 'revived', 'extended', 'expired', 'dead']
const tried: string[] = ['stored', 'shown', 'acked', 'processing', 'failed']

async function compareMessage(model: PlainSpace, real: Real, number: number): Promise<void> {
  const id = real.ids[number]!
  const { receipts } = await real.space.show(id)
  const found = receipts.map(({ recipient, state, claimedBy, steps, attempts, repeats }) => ({
    ...{ recipient, state, claimedBy },
    marks: steps.map((step) => step.state).filter((step) => marks.includes(step)),
    ...(tried.includes(state) ? { attempts, repeats } : {}),
  }))
  expect(found, `receipts of message ${number}`).toEqual(model.receipts(number))
  if (number % 4 !== 0) return
  const thread = (await (await mailboxOf(real, 'user')).thread(id)).map((one) => real.ids.indexOf(one.id))
  expect(thread, `thread of message ${number}`).toEqual(model.thread(number))
}

const tally = { histories: 0, commands: 0, messages: 0, notices: 0 }

async function play(
  policy: PlainSettings,
  history: Iterable<fc.AsyncCommand<PlainSpace, Real>>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-history-'))
  const model = new PlainSpace(Date.parse('2026-11-15T10:00:00.000Z'), policy)
  const space = await openSpace({
    dir,
    settings: { durability: 'os', answerAfterMs: 0, ...policy },
    now: () => model.now,
  })
  try {
    const real: Real = { space, mailboxes: new Map(), ids: [], notices: [] }
    for (const [name, asRoles, asTags] of [
      ['ada', ['r'], ['project:p']],
      ['bob', ['r', 's'], ['swarm:w']],
      ['zed', [], ['project:p', 'swarm:w']],
    ] as const) {
      model.join(name, [...asRoles], [...asTags])
      await space.join(name, { roles: asRoles, tags: asTags })
    }
    await fc.asyncModelRun(() => ({ model, real }), history)
    await compare(model, real)
    tally.histories++
    tally.messages += real.ids.length
    tally.notices += real.notices.length
  } finally {
    await space.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The same histories at every run, so that a failure belongs to a change; `npm run storm` plays new ones. */
const given = process.env['SEED'] ?? (isStorm ? undefined : '20261115')
const seed = given === undefined ? undefined : Number(given)

test(`${histories} random histories agree with the plain model`, { timeout: 300_000 }, async () => {
  const arbitraries = weighted.map((arbitrary) => arbitrary.map((command) => new Played(command)))
  const started = performance.now()
  const history = fc.commands(arbitraries, { maxCommands: 50, size: 'max' })
  await fc.assert(fc.asyncProperty(settings, history, play), {
    numRuns: histories,
    ...(seed === undefined ? {} : { seed }),
  })
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  console.log(
    `${tally.histories} histories, ${tally.commands} commands, ${tally.messages} messages, ${tally.notices} of them notices, 0 disagreements (${seconds} s)`,
  )
})
