import { describe, expect, test } from 'vitest'
import {
  acceptShutdown,
  approvePlan,
  deferShutdown,
  type Mailbox,
  type MailboxError,
  rejectPlan,
  respondStatus,
  type SendInput,
} from '../../src/mod.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { CountsOf } from '../helpers/counts.ts'
import { clockAt, hour, minute } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'
import {
  type Act,
  type Address,
  type Asks,
  acts,
  addresses,
  kinds,
  type MailKind,
  type Outcome,
  type Start,
  starts,
  table,
  untouched,
} from './table.ts'

/**
 * Ada asks, bob acts. Cy holds bob's role and has his tag. Lea leads. Everything is urgent, so that whatever is left
 * open makes somebody ring.
 */
interface Stage {
  space: DiskSpace
  ada: Mailbox
  bob: Mailbox
  cy: Mailbox
  user: Mailbox
}

interface Case {
  kind: MailKind
  address: Address
  start: Start
  act: Act
  id: string
  /** What is to become of it; null: it is refused. */
  expected: Outcome | null
  /** The ladder when the act was done, and who was told what. */
  found?: Found
}

const to: Record<Address, string> = { direct: 'bob', role: 'role:dev', tag: 'project:x', all: 'all' }
const membersOf: Partial<Record<Address, string[]>> = { tag: ['bob', 'cy'], all: ['bob', 'cy', 'lea'] }

const mail: Record<MailKind, Partial<SendInput>> = {
  text: {},
  request: { type: 'request' },
  ack: { requiresAck: true },
  question: { awaitingResponse: true },
  status: { type: 'status_request' },
  plan: { type: 'plan_submission', body: 'First the lexer.' },
  shutdown: { type: 'shutdown_request' },
  task: { type: 'task_assignment' },
  handoff: { type: 'handoff' },
  ci: { type: 'fix_ci_failure', requiresAck: true },
  review: { type: 'fix_review_comments', requiresAck: true },
}

const asksOf = (kind: MailKind): Asks => kinds[kind].asks
const wantsAck = (kind: MailKind): boolean => 'ack' in kinds[kind]
const isGroup = (address: Address): boolean => address === 'tag' || address === 'all'

/** The answer of its kind. */
const answers: Partial<Record<Asks, (mailbox: Mailbox, id: string) => Promise<unknown>>> = {
  status: (mailbox, id) => respondStatus(mailbox, id, { status: 'working' }),
  plan: (mailbox, id) => approvePlan(mailbox, id),
  shutdown: (mailbox, id) => acceptShutdown(mailbox, id),
}

function report({ bob }: Stage, one: Case, status: string): Promise<unknown> {
  const { kind, id } = one
  // Work that has no id of its own is known by its message.
  const taskId = kind === 'task' ? labelOf(one) : id
  return bob.send({ to: 'ada', type: 'status_update', replyTo: id, payload: { taskId, status } })
}

const does: Record<Act, (stage: Stage, one: Case) => Promise<unknown>> = {
  ack: ({ bob }, { id }) => bob.ack(id),
  'ack message': ({ bob }, { id }) => bob.reply(id, { type: 'ack' }),
  reply: ({ bob }, { id }) => bob.reply(id, { body: 'Like this.', type: 'response' }),
  answer: ({ bob }, { kind, id }) => answers[asksOf(kind)]!(bob, id),
  reject: ({ bob }, { id }) => rejectPlan(bob, id, { feedback: 'Smaller.' }),
  defer: ({ bob }, { id }) => deferShutdown(bob, id, { reason: 'Busy.' }),
  'report done': (stage, one) => report(stage, one, 'completed'),
  'report failed': (stage, one) => report(stage, one, 'failed'),
  done: ({ bob }, { id }) => bob.done(id),
  'done with note': ({ bob }, { id }) => bob.done(id, { note: 'Like this.' }),
  fail: ({ bob }, { id }) => bob.fail(id, { reason: 'It broke.' }),
  archive: ({ bob }, { id }) => bob.archive(id),
  withdraw: ({ ada }, { id }) => ada.withdraw(id),
  'person answers': ({ user }, { kind, id }) =>
    answers[asksOf(kind)]?.(user, id) ?? user.reply(id, { body: 'Like this.', type: 'response' }),
}

/** Every cell of a kind's part of the table. A request to shut down goes to one agent only. */
const cellsOf = (kind: MailKind): Omit<Case, 'id'>[] =>
  addresses
    .filter((address) => kind !== 'shutdown' || address === 'direct')
    .flatMap((address) => starts.map((start) => ({ address, start })))
    .flatMap(({ address, start }) =>
      acts.flatMap((act) => {
        const outcome = table[act][asksOf(kind)]
        if (outcome === undefined) return []
        // What was seen cannot be taken back.
        const isRefused = act === 'withdraw' && start !== 'unread'
        return [{ kind, address, start, act, expected: isRefused ? null : outcome }]
      }),
    )

async function openStage(now: () => number): Promise<Stage> {
  const space = await tempSpace({ now, settings: { 'limits.threadMessages': 0 } })
  const ada = await space.mailbox('ada')
  const member = { roles: ['dev'], tags: ['project:x'] }
  const bob = await space.mailbox('bob', { join: member })
  const cy = await space.mailbox('cy', { join: member })
  await space.mailbox('lea', { join: { roles: ['lead'] } })
  return { space, ada, bob, cy, user: await space.mailbox('user') }
}

async function send({ ada }: Stage, cell: Omit<Case, 'id'>): Promise<Case> {
  const { kind, address } = cell
  const about = labelOf(cell)
  const given = mail[kind]
  const { id } = await ada.send({
    ...{ to: to[address], subject: about, priority: 'urgent', ...given },
    // An agent has one open plan for a task.
    ...(kind === 'plan' || kind === 'task' ? { payload: { taskId: about } } : {}),
  })
  return { ...cell, id }
}

/** What can be seen of a message. */
interface Found {
  /** The copy of bob, or of his role or group. */
  copy: string
  owed: string[]
  told: string[]
  /** Whether cy is shown it as new. */
  isNew: boolean
}

async function look({ space, ada, bob, cy }: Stage, cases: readonly Case[]): Promise<Map<string, Found>> {
  const owed = await space.owed()
  const replies = await all((after) => ada.inbox({ limit: 1_000, ...after }))
  const unreadOf = async (mailbox: Mailbox) =>
    new Set(
      (await all((after) => mailbox.inbox({ unread: true, limit: 1_000, ...after }))).map(({ id }) => id),
    )
  const [unread, unreadByBob] = [await unreadOf(cy), await unreadOf(bob)]
  const found = new Map<string, Found>()
  for (const { id } of cases) {
    const { receipts } = await space.show(id)
    const own = receipts.find(({ recipient }) => recipient === 'bob' || recipient === 'role:dev')
    found.set(id, {
      // A member of a group that has not touched it has no copy: it is there, or it is gone.
      copy: own?.state ?? (unreadByBob.has(id) ? 'stored' : 'gone'),
      owed: owed
        .filter((one) => one.id === id)
        .map(({ kind, by }) => `${kind} ${by}`)
        .sort(),
      told: replies
        .filter(({ from, replyTo }) => replyTo === id && from !== 'system')
        .map(({ type, payload }) => {
          const { status } = (payload ?? {}) as { status?: string }
          return type === 'status_update' ? `${type} ${status}` : type
        }),
      isNew: unread.has(id),
    })
  }
  return found
}

type Paged<T> = (after: { after?: string }) => Promise<{ messages: T[]; next: string | null }>

async function all<T>(page: Paged<T>): Promise<T[]> {
  const found: T[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const { messages, next } = await page(after === undefined ? {} : { after })
    found.push(...messages)
    after = next
  }
  return found
}

/** What is to be seen when the act is done, by the table. */
function expectedOf({ kind, address, start, act, expected }: Case): Found {
  const asks = asksOf(kind)
  const group = isGroup(address)
  const { copy, acked, matter, told, forGroup } = expected ?? untouched
  // A claim that ran out is free; mail that wants an ack is shown again meanwhile.
  const wasUnread = start === 'unread' || (start === 'lapsed' && (address === 'role' || wantsAck(kind)))
  const before = wasUnread ? 'stored' : 'shown'
  const isWithdrawn = copy === 'withdrawn'
  // What one member settles is settled for its group; a status is asked of each, and an ack as well.
  const isForAll = asks !== 'nothing' && asks !== 'status' && matter === 'settled' && forGroup
  const isGone = isWithdrawn || (group && isForAll)
  const isBobs = act !== 'withdraw' && act !== 'person answers'
  const hasCopy = !group || isBobs || start !== 'unread'
  const isKept = copy === null || (group && !isBobs && !isGone)
  const holder = group ? to[address] : address === 'role' && wasUnread && copy === null ? 'role:dev' : 'bob'
  const isSettled = matter === 'settled' && (!group || forGroup)
  const isFailed = matter === 'failed' && !group
  const owesMatter = asks === 'nothing' || isSettled ? [] : [`${asks} ${isFailed ? 'ada' : holder}`]
  const members = group ? membersOf[address]! : [holder]
  const unacked = members.filter((name) => !acked || (group && name !== 'bob'))
  const owesAck = wantsAck(kind) && !isGone ? unacked.map((name) => `ack ${name}`) : []
  // Whoever asked a group hears when it is answered, done or has failed, not when one of many is done with it.
  const isReport = act.startsWith('report') || (asks === 'task' && act === 'fail')
  const isSilent = group && !forGroup && told?.startsWith('status_update') && !isReport
  return {
    copy: hasCopy ? (isKept ? before : copy) : isGone ? 'gone' : 'stored',
    owed: [...owesMatter, ...owesAck].sort(),
    told: told === null || isSilent ? [] : [told],
    isNew: address !== 'direct' && (group ? !isGone : wasUnread && copy === null),
  }
}

/**
 * Nothing is left to do about it: whatever happens now would be a false alarm. To acknowledge a request is not to do
 * what it asks, and what was claimed is not done either.
 */
function isSettled({ kind, address, start }: Case, { copy, owed }: Found): boolean {
  const isOpen = kind === 'request' || (kind === 'text' && address === 'role' && start === 'claimed')
  const isOver = copy === 'acked' ? !isOpen : !['stored', 'shown'].includes(copy)
  return isOver && owed.every((one) => one.endsWith(' ada'))
}

/** Which messages the system has told anybody of. */
async function toldOf(space: DiskSpace): Promise<Set<string>> {
  const system = space.mailboxInside('system')
  const said = await all((after) => system.sent({ limit: 1_000, ...after }))
  return new Set(
    said.flatMap(({ payload }) => (payload as { about?: { id: string }[] }).about?.map(({ id }) => id) ?? []),
  )
}

const labelOf = ({ kind, address, start, act }: Omit<Case, 'id'>) => `${kind}, ${address}, ${start}: ${act}`

describe.each(Object.keys(kinds) as MailKind[])('%s', (kind) => {
  test('what each act settles, and that nothing settled makes anybody ring in the next day', async () => {
    const clock = clockAt()
    const stage = await openStage(clock.now)
    const { space, bob } = stage
    const counts = new CountsOf(space)
    const cells = cellsOf(kind)

    const cases = await Promise.all(
      cells.filter(({ start }) => start === 'lapsed').map((cell) => send(stage, cell)),
    )
    await Promise.all(cases.map(({ id }) => bob.claim(id)))
    clock.advance(16 * minute)
    await space.runDue()
    cases.push(
      ...(await Promise.all(
        cells.filter(({ start }) => start !== 'lapsed').map((cell) => send(stage, cell)),
      )),
    )
    await Promise.all(
      cases.map(async ({ start, id }) => {
        if (start === 'read') await bob.read(id)
        if (start === 'claimed') await bob.claim(id)
      }),
    )
    await counts.expectEqual('before')

    for (const one of cases) {
      const error = await does[one.act](stage, one).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      if (one.expected !== null) expect(error, labelOf(one)).toBeNull()
      else expect(error, labelOf(one)).toMatchObject({ code: 'conflict' } satisfies Partial<MailboxError>)
    }
    const found = await look(stage, cases)
    expect(Object.fromEntries(cases.map((one) => [labelOf(one), found.get(one.id)]))).toEqual(
      Object.fromEntries(cases.map((one) => [labelOf(one), expectedOf(one)])),
    )
    await counts.expectEqual('after')

    const before = await toldOf(space)
    for (const ms of [6 * minute, 10 * minute, 5 * hour, 17 * hour]) {
      clock.advance(ms)
      await space.runDue()
    }
    const told = await toldOf(space)
    const later = await look(stage, cases)
    for (const one of cases) {
      const { copy, isNew } = found.get(one.id)!
      if (!isSettled(one, found.get(one.id)!)) continue
      expect(told.has(one.id) && !before.has(one.id), `a notice about ${labelOf(one)}`).toBe(false)
      expect(later.get(one.id)!.copy, labelOf(one)).toBe(copy)
      expect(later.get(one.id)!.isNew && !isNew, `${labelOf(one)} is given to another`).toBe(false)
    }
    await counts.expectEqual('a day later')
  })
})
