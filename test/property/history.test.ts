import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type InboxOptions, type Mailbox, MailboxError, priorities, type SendInput } from '../../src/mod.ts'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { Survey } from '../../src/space/survey.ts'
import { CountsOf } from '../helpers/counts.ts'
import { removeTree } from '../helpers/remove-tree.ts'
import { Sleeper } from '../helpers/sleeper.ts'
import { inStorm, isStorm } from '../helpers/storm.ts'
import { placeSpace, sharedSettings } from '../helpers/temp.ts'
import { endDesk, withDesk } from '../helpers/with-desk.ts'
import { type PlainSettings, PlainSpace, Refused, type Said, type Step } from './plain-model.ts'

/**
 * Random histories, played to the library and to the plain model at once. Every command must end in the same way in
 * both, whatever is due after it must be done and told in both, and whoever counts unread mail must count the same.
 * After every history everybody's mail, and what everybody owes, must be the same. Programs are started again and
 * agents die on the way. In an encrypted space (test/encrypted) a history takes as long as in a plain one: a tenth will do.
 */
const histories = inStorm(import.meta.url.includes('?encrypted') ? 200 : 2_000, 20)

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

interface Sending {
  do: 'send'
  who: string
  to: string[]
  rank: number
  ttlMs?: number | null | undefined
  key?: string | undefined
  exclude: string[]
  hold: boolean
  said?: Said
}

type Command =
  | {
      do: 'join'
      who: string
      roles?: string[] | undefined
      tags?: string[] | undefined
      session?: string | undefined
      /** Whether it is tied to a process. */
      process: boolean
    }
  | {
      do: 'update'
      who: string
      addRoles?: string[]
      removeRoles?: string[]
      addTags?: string[]
      removeTags?: string[]
    }
  | { do: 'leave'; who: string; frozen: boolean }
  /** Its process ends. `acts`: it goes on from elsewhere before anybody has noticed. */
  | { do: 'kill'; who: string; acts: boolean }
  /** Another program opens the space. */
  | { do: 'restart' }
  | Sending
  /** `isAbout`: a report names the message as the task. */
  | { do: 'reply'; who: string; which: number; supersede: boolean; said: Said; isAbout: boolean }
  | { do: 'resend'; who: string; which: number; to: string }
  | { do: 'check'; who: string; all: boolean }
  | { do: 'read'; who: string; which: number }
  | { do: 'step'; who: string; step: Step; which: number; ttlMs?: number | undefined; note: boolean }
  | { do: 'claimNext'; who: string; role: string; ttlMs?: number | undefined }
  | { do: 'withdraw'; who: string; which: number }
  /** `visitor`: who comes for its mail before anybody else looks. */
  | { do: 'pass'; ms: number; visitor?: string | undefined }

// What may happen

const who = fc.constantFrom(...names)
const which = fc.nat({ max: 30 })
const rank = fc.constantFrom(1, 1, 1, 0, 2, 3, 3)
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

/** What mail asks for. */
const asked: Said[] = [
  {},
  {},
  {},
  {},
  { type: 'request' },
  { awaiting: true },
  { type: 'help_request' },
  { type: 'status_request' },
  { type: 'plan_submission' },
  { type: 'plan_submission', task: 't1' },
  { type: 'shutdown_request' },
  { type: 'task_assignment' },
  { type: 'task_assignment', task: 't1' },
  { type: 'task_assignment', task: 't2' },
  { type: 'handoff' },
]
const asking: fc.Arbitrary<Said> = fc
  .tuple(
    fc.constantFrom(...asked),
    fc.constantFrom(false, false, true),
    fc.constantFrom(undefined, undefined, undefined, 10 * minute, 2 * hour),
  )
  .map(([said, requiresAck, withinMs]) => ({
    ...said,
    ...(requiresAck ? { requiresAck } : {}),
    ...(withinMs === undefined ? {} : { withinMs }),
  }))

/** How mail is answered. */
const answered: Said[] = [
  {},
  {},
  {},
  {},
  { type: 'ack' },
  { type: 'escalation' },
  { awaiting: true },
  { type: 'status_response', status: 'working' },
  { type: 'plan_approval', yes: true },
  { type: 'plan_approval', yes: false },
  { type: 'shutdown_response', yes: true },
  { type: 'shutdown_response', yes: false },
  { type: 'plan_submission' },
  { type: 'status_update', status: 'completed', task: 't1' },
  { type: 'status_update', status: 'failed', task: 't1' },
  { type: 'status_update', status: 'working' },
]
const reports: Said[] = [
  { type: 'status_update', status: 'completed', task: 't1' },
  { type: 'status_update', status: 'failed', task: 't1' },
  { type: 'status_update', status: 'completed', task: 't2' },
]

const commands: { weight: number; arbitrary: fc.Arbitrary<Command> }[] = [
  {
    weight: 13,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      who,
      to: fc.oneof(
        fc.uniqueArray(fc.constantFrom(...addresses.filter((to) => to !== 'nobody')), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.constantFrom(...names, 'role:r').map((to) => [to]),
      ),
      rank,
      ttlMs,
      key: fc.constantFrom(undefined, undefined, undefined, undefined, 'k1', 'k2'),
      exclude: some(names, 1),
      hold: fc.boolean(),
      said: asking,
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
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      who,
      to: fc.constantFrom(...names).map((to) => [to]),
      rank,
      exclude: fc.constant<string[]>([]),
      hold: fc.constant(true),
      said: fc.constantFrom(...reports),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('reply' as const),
      who,
      which,
      supersede: fc.constantFrom(false, false, true),
      said: fc.constantFrom(...answered),
      isAbout: fc.boolean(),
    }),
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
  { weight: 4, arbitrary: fc.record({ do: fc.constant('check' as const), who, all: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), who, which }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('step' as const),
      who,
      step: fc.constantFrom(...steps),
      which,
      ttlMs: claimTtlMs,
      note: fc.boolean(),
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
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('join' as const),
      who,
      roles: maybe(some(roles)),
      tags: maybe(some(tags)),
      session: fc.constantFrom(undefined, 's1', 's2'),
      process: fc.constantFrom(true, true, false),
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
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('leave' as const),
      who,
      frozen: fc.constantFrom(true, true, false),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('kill' as const),
      who,
      acts: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(
        second,
        minute,
        5 * minute,
        15 * minute,
        15 * minute,
        3 * hour,
        5 * hour,
        25 * hour,
      ),
      visitor: fc.constantFrom(undefined, undefined, ...names),
    }),
  },
]

/** How the space is set up. Little is tried twice before it counts, so that histories get there. */
const settings: fc.Arbitrary<PlainSettings> = fc.record({
  rules: fc.constantFrom('open' as const, 'open' as const, 'open' as const, 'hub' as const),
  leads: fc.constantFrom(['s'], ['lead', 's'], ['lead']),
  maxAttempts: fc.constantFrom(2, 2, 3, 5),
  ackTimeoutMs: fc.constantFrom(minute, 15 * minute, 15 * minute, 0),
  ackRepeats: fc.constantFrom(1, 1, 2),
  urgentAfterMs: fc.constantFrom(5 * minute, 5 * minute, 0),
  staleAfterMs: fc.constantFrom(hour, hour, 0),
  silentAfterMs: fc.constantFrom(0, 24 * hour, 24 * hour),
  deadLetterAfterMs: fc.constantFrom(5 * minute, 24 * hour, 24 * hour, 0),
  answerAfterMs: fc.constantFrom(4 * hour, 4 * hour, 0),
  hours: fc.constantFrom('' as const, 'mon-fri 9-18 UTC' as const),
  'limits.ratePerMinute': fc.constantFrom(0, 0, 0, 3),
  'limits.inbox': fc.constantFrom(0, 0, 0, 3),
})

/** Far more steps than sends would all miss; so many of each kind that histories go somewhere. */
const weighted = commands.flatMap(({ weight, arbitrary }) => Array.from({ length: weight }, () => arbitrary))

// How it is played

interface Real {
  space: DiskSpace
  counts: CountsOf
  mailboxes: Map<string, Mailbox>
  /** The processes of agents, by name. */
  processes: Map<string, Sleeper>
  /** Every process that was started. */
  started: Sleeper[]
  /** Everything the system has said, in the words of the plain model. */
  notices: string[]
  /** Ids of messages by their number. */
  ids: string[]
  /** How far the journal was read. */
  seq: number
  restart: () => Promise<DiskSpace>
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

const given = <T extends object>(fields: T): { [Name in keyof T]: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

function applyPlain(model: PlainSpace, command: Command): unknown {
  switch (command.do) {
    case 'join': {
      const { roles: asRoles, tags: asTags, session, process } = command
      return model.join(command.who, given({ roles: asRoles, tags: asTags, session, process }))
    }
    case 'update':
      return model.update(command.who, command)
    case 'leave':
      return model.leave(command.who, command.frozen)
    case 'kill':
      model.kill(command.who)
      return command.acts ? model.check(command.who, false) : null
    case 'restart':
      return model.restart()
    case 'send': {
      const { ttlMs: life, key, to, rank: urgency, exclude, hold, said = {} } = command
      return model.send(command.who, {
        ...{ to, rank: urgency, exclude, hold, ...said },
        ...given({ ttlMs: life, key }),
      })
    }
    case 'reply': {
      const number = pick(model, command.which)
      return model.reply(command.who, number, saidIn(command, `message ${number}`), command.supersede)
    }
    case 'resend':
      return model.resend(command.who, pick(model, command.which), [command.to])
    case 'check':
      return model.check(command.who, command.all)
    case 'read':
      return model.read(command.who, pick(model, command.which))
    case 'step': {
      const number = pick(model, command.which)
      if (command.step === 'claimed') return model.claim(command.who, number, command.ttlMs)
      const hasNote = command.step === 'failed' || (command.step === 'completed' && command.note)
      return model.step(command.who, command.step, number, hasNote ? 'because' : undefined)
    }
    case 'claimNext':
      return model.claimNext(command.who, command.role, command.ttlMs)
    case 'withdraw':
      return model.withdraw(command.who, pick(model, command.which))
    case 'pass':
      return mayAct(model, command.visitor) ? model.check(command.visitor!, true) : null
  }
}

/** Work without an id of its own is known by its message. */
const saidIn = ({ said, isAbout }: Extract<Command, { do: 'reply' }>, task: string): Said =>
  said.type === 'status_update' && isAbout ? { ...said, task } : said

/** Whoever was only taken for dead may come back; whoever has left has to join. */
function mayAct({ agents }: PlainSpace, name: string | undefined): boolean {
  const agent = name === undefined ? undefined : agents.get(name)
  return agent !== undefined && (agent.state !== 'dead' || agent.gone !== 'left')
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
  if (command.do === 'restart') {
    real.space = await real.restart()
    real.counts = new CountsOf(real.space)
    real.mailboxes.clear()
    return null
  }
  if (command.do === 'pass') {
    if (!mayAct(model, command.visitor)) return null
    return checkReal(real, command.visitor!, true)
  }
  if (command.do === 'join') return joinReal(real, command)
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
    case 'kill':
      await real.processes.get(command.who)!.kill()
      return command.acts ? checkReal(real, command.who, false) : null
    case 'send': {
      const { to, exclude, hold, ttlMs: life, key, said = {} } = command
      const priority = priorities[command.rank]!
      const input = { to, exclude, hold, priority, ...given({ ttlMs: life, key }), ...inputOf(said) }
      return numberOf(real, (await mailbox.send(input)).id)
    }
    case 'reply': {
      const { to: _, ...input } = inputOf(saidIn(command, id))
      return numberOf(real, (await mailbox.reply(id, { supersede: command.supersede, ...input })).id)
    }
    case 'resend':
      return numberOf(real, (await mailbox.resend(id, command.to)).id)
    case 'check':
      return checkReal(real, command.who, command.all)
    case 'read':
      return (await mailbox.read(id)).state
    case 'step':
      if (command.step === 'claimed') await mailbox.claim(id, ttl)
      else if (command.step === 'failed') await mailbox.fail(id, { reason: 'because' })
      else if (command.step === 'completed') await mailbox.done(id, command.note ? { note: 'because' } : {})
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

async function joinReal(real: Real, command: Extract<Command, { do: 'join' }>): Promise<number> {
  const { roles: asRoles, tags: asTags, session: id, process } = command
  const sleeper = process ? new Sleeper() : undefined
  if (sleeper !== undefined) {
    real.started.push(sleeper)
    real.processes.set(command.who, sleeper)
  }
  const session = given({ id, pid: sleeper?.pid })
  const input = { ...given({ roles: asRoles, tags: asTags }), session }
  return (await real.space.join(command.who, input)).session.generation
}

async function checkReal(real: Real, name: string, all: boolean): Promise<number[]> {
  const mailbox = await mailboxOf(real, name)
  const { messages } = await mailbox.check({ budgetTokens: all ? 1_000_000 : 1 })
  await gather(real)
  return messages.map(({ id }) => real.ids.indexOf(id))
}

/** What a message says, as the library takes it. */
function inputOf({ type, awaiting, requiresAck, task, withinMs, status, yes }: Said): Partial<SendInput> {
  const verdict =
    type === 'plan_approval'
      ? { approved: yes, feedback: 'Smaller.' }
      : type === 'shutdown_response'
        ? { accepted: yes }
        : {}
  const payload = given({ taskId: task, withinMs, status, ...verdict })
  return {
    ...given({ type, awaitingResponse: awaiting, requiresAck }),
    ...(Object.keys(payload).length === 0 ? {} : { payload }),
  }
}

async function mailboxOf({ space, mailboxes }: Real, name: string): Promise<Mailbox> {
  const mailbox = mailboxes.get(name) ?? (await space.mailbox(name, { join: false }))
  mailboxes.set(name, mailbox)
  return mailbox
}

/** The number of a message. */
async function numberOf(real: Real, id: string): Promise<number> {
  await gather(real)
  return real.ids.indexOf(id)
}

/** Numbers what was sent since, and puts what the system has said into the words of the plain model. */
async function gather(real: Real): Promise<void> {
  const { entries, seq } = await new Survey(real.space.core).entries(real.seq, 1_000)
  real.seq = seq
  for (const entry of entries) {
    if (entry.kind !== 'message') continue
    const { id, from, to, subject, body, payload } = entry.message
    real.ids.push(id)
    if (from !== 'system') continue
    const { about } = (payload ?? {}) as { about?: { id: string; to: string; kind: string }[] }
    const items = about?.map((item) => `${item.kind} ${real.ids.indexOf(item.id)} to ${item.to}`)
    const numbers = [...body.matchAll(/^- (\S+)$/gm)].map(([, one]) => real.ids.indexOf(one!))
    const back = `${subject.split(' ')[0]} is back: ${numbers.sort((a, b) => a - b).join(', ')}`
    real.notices.push(`${to[0]}: ${items?.sort().join(', ') ?? back}`)
  }
}

/** Does what is due in both, and compares what the system has said. */
async function tend(model: PlainSpace, real: Real): Promise<void> {
  await real.space.runDue()
  await gather(real)
  model.order = real.notices.slice(model.notices.length)
  model.runDue()
  expect(real.notices, 'what the system has said').toEqual(model.notices)
  expect(real.ids.length, 'how many messages there are').toBe(model.messages.length)
}

class Played implements fc.AsyncCommand<PlainSpace, Real> {
  readonly #command: Command

  constructor(command: Command) {
    this.#command = command
  }

  check(model: PlainSpace): boolean {
    const command = this.#command
    if ('which' in command && model.messages.length === 0) return false
    if (command.do === 'pass' || command.do === 'restart') return true
    if (command.do === 'join') return command.who !== 'user'
    if (command.do === 'kill' && model.agents.get(command.who)?.process !== 'running') return false
    return mayAct(model, command.who)
  }

  async run(model: PlainSpace, real: Real): Promise<void> {
    tally.commands++
    if (this.#command.do === 'restart') tally.restarts++
    if (this.#command.do === 'kill') tally.deaths++
    if (this.#command.do === 'pass') {
      model.now += this.#command.ms
      await compareLook(model, real)
    }
    const found = await playReal(real, model, this.#command)
    await gather(real)
    model.order = real.notices.slice(model.notices.length)
    const expected = playPlain(model, this.#command)
    // Whoever reads what is not for it is shown the message and no standing of its own.
    const strangers = this.#command.do === 'read' && 'gave' in expected && expected.gave === null
    if (!strangers) expect(found, this.toString()).toEqual(expected)
    await tend(model, real)
    await compareCounts(model, real)
  }

  toString(): string {
    const { do: verb, ...rest } = this.#command
    return `${verb} ${JSON.stringify(rest)}`
  }
}

// What must agree

/** Whoever counts unread mail counts the same, and so does the plain model. */
async function compareCounts(model: PlainSpace, real: Real): Promise<void> {
  tally.states++
  const { unread, dead, needsYou, states } = await real.counts.figures()
  expect([...unread.keys()].sort()).toEqual([...model.agents.keys()].sort())
  for (const [name, found] of unread) {
    const byPriority = model.count(name)
    const count = byPriority.reduce((sum, n) => sum + n, 0)
    expect(found, `unread mail of ${name}`).toEqual({
      ...{ inbox: count, count, stats: count, overview: count, metric: count },
      ...{ byPriority, overviewByPriority: byPriority },
    })
  }
  const letters = model.deadLetters().length
  expect(dead, 'dead letters').toEqual({ stats: letters, overview: letters, metric: letters })
  expect(needsYou, 'what needs the person').toBe(model.needsPerson())
  const roster = Object.values(model.roster())
  expect(states, 'agents by state').toEqual(
    Object.fromEntries(roster.map((state) => [state, roster.filter((one) => one === state).length])),
  )
}

async function compare(model: PlainSpace, real: Real): Promise<void> {
  const states = (await real.space.agents()).map(({ name, state }) => [name, state])
  expect(Object.fromEntries(states)).toEqual(model.roster())
  for (const name of model.agents.keys()) await compareMail(model, real, name)
  for (const number of real.ids.keys()) await compareMessage(model, real, number)
  const { letters } = await real.space.deadLetters({ limit: 1_000 })
  expect(
    letters.map(({ message, recipient }) => `${real.ids.indexOf(message.id)} to ${recipient}`).sort(),
    'dead letters',
  ).toEqual(model.deadLetters().sort())
  const owed = await real.space.owed()
  expect(
    owed.map(({ kind, id, to, by }) => `${kind} ${real.ids.indexOf(id)} to ${to} by ${by}`).sort(),
    'what is owed',
  ).toEqual(model.owed().sort())
  // To rebuild the index takes longer than everything else together.
  const deep = model.messages.length % 3 === 0
  expect((await real.space.verify({ deep })).problems).toEqual([])
}

/** Time has passed and nobody has done what is due: whoever looks sees what is over, and what is free again. */
async function compareLook(model: PlainSpace, real: Real): Promise<void> {
  // One of them at a time; over many histories it is everybody's turn.
  const awake = [...model.agents.values()].filter(({ state }) => state !== 'dead')
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
}

const marks: string[] = [
  ...['repeated', 'escalated', 'stale', 'overdue', 'revived', 'extended', 'expired', 'dead'],
]
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

const tally = { histories: 0, commands: 0, restarts: 0, deaths: 0, states: 0, messages: 0, notices: 0 }

async function play(
  policy: PlainSettings,
  history: Iterable<fc.AsyncCommand<PlainSpace, Real>>,
): Promise<void> {
  const dir = await placeSpace(mkdtempSync(join(tmpdir(), 'mailbox-history-')))
  const model = new PlainSpace(Date.parse('2026-11-15T10:00:00.000Z'), policy)
  const open = async () => {
    const settings = { ...sharedSettings(), durability: 'os', ...policy } as const
    const opened = await openDisk({ dir, settings, now: () => model.now })
    await withDesk(opened, { settings, now: () => model.now })
    return opened
  }
  const space = await open()
  const real: Real = {
    ...{ space, counts: new CountsOf(space), mailboxes: new Map(), ids: [], notices: [], seq: 0 },
    ...{ processes: new Map(), started: [] },
    async restart() {
      await real.space.close()
      return open()
    },
  }
  try {
    for (const [name, asRoles, asTags] of [
      ['ada', ['r'], ['project:p']],
      ['bob', ['r', 's'], ['swarm:w']],
      ['zed', [], ['project:p', 'swarm:w']],
    ] as const) {
      model.join(name, { roles: [...asRoles], tags: [...asTags] })
      await space.join(name, { roles: asRoles, tags: asTags })
    }
    await fc.asyncModelRun(() => ({ model, real }), history)
    await compare(model, real)
    tally.histories++
    tally.messages += real.ids.length
    tally.notices += real.notices.length
  } finally {
    await real.space.close()
    await endDesk(dir)
    for (const process of real.started) await process.kill()
    await removeTree(dir)
  }
}

/** The same histories at every run, so that a failure belongs to a change; `npm run storm` plays new ones. */
const wanted = process.env['SEED'] ?? (isStorm ? undefined : '20261115')
const seed = wanted === undefined ? undefined : Number(wanted)

const timeout = inStorm(3_600_000, 300_000)

test(`${histories} random histories agree with the plain model`, { timeout }, async () => {
  const arbitraries = weighted.map((arbitrary) => arbitrary.map((command) => new Played(command)))
  const started = performance.now()
  const history = fc.commands(arbitraries, { maxCommands: 50, size: 'max' })
  await fc.assert(fc.asyncProperty(settings, history, play), {
    numRuns: histories,
    ...(seed === undefined ? {} : { seed }),
  })
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  console.log(
    `${tally.histories} histories, ${tally.commands} commands, ${tally.restarts} restarts and ${tally.deaths} deaths among them, ${tally.states} states, ${tally.messages} messages, ${tally.notices} of them notices, 0 disagreements (${seconds} s)`,
  )
})
