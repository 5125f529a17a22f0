import type { Database } from '../base/sqlite.ts'
import type { Report } from '../conversation/conversation.ts'
import { movedBy, next, openedBy, opens, reportOf } from '../conversation/matter.ts'
import {
  findStep,
  isOpenMatter,
  type Kind,
  type MatterState,
  matterOf,
  typeOf,
} from '../conversation/registry.ts'
import { isGroupBox } from '../model/address.ts'
import type { Message } from '../model/message.ts'
import { isAcked, isDeadLetter, type ReceiptChange, type ReceiptStep } from '../model/receipt.ts'
import { readersOf, unackedMembers } from './members.ts'

type OwedRow = [owner: string, kind: Kind, state: MatterState, asker: string]

/** Maintains the table of matters: messages open them, messages and receipts settle them. */
export function createMatterKeeper(database: Database) {
  const put = database.prepare('INSERT OR IGNORE INTO matter VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const set = database.prepare(
    'UPDATE matter SET state = ?4, open = ?5 WHERE seq = ?1 AND owner = ?2 AND kind = ?3',
  )
  const raise = database.prepare(
    'UPDATE matter SET level = level + 1 WHERE seq = ? AND owner = ? AND open = 1',
  )
  const of = database.prepare('SELECT owner, kind, state, asker FROM matter WHERE seq = ?')
  const ofOwner = database.prepare('SELECT kind, state FROM matter WHERE seq = ? AND owner = ?')
  const reported = database.prepare(
    `SELECT x.seq, x.owner, x.state FROM matter x JOIN receipt r ON r.seq = x.seq AND r.owner = x.owner
     WHERE x.kind = ?1 AND x.key = ?2 AND (x.owner = ?3 OR r.box = ?3)`,
  )
  const seqOf = database.prepare('SELECT seq FROM message WHERE id = ?')

  const reassigned = database.prepare(
    "UPDATE matter SET state = 'reassigned', open = 0 WHERE kind = ? AND key = ? AND asker = ? AND open = 1 AND state = 'failed'",
  )
  const readers = database.prepare(`${readersOf} LIMIT 1`)
  const unacked = database.prepare(`${unackedMembers} LIMIT 1`)

  const expired = database.prepare("SELECT 1 FROM receipt WHERE seq = ? AND owner = ? AND state = 'expired'")
  const isLost = (seq: number, group: string) =>
    expired.get([seq, group]) !== undefined && readers.get([seq]) === undefined

  const move = (seq: number, owner: string, kind: Kind, state: MatterState) =>
    set.run([seq, owner, kind, state, isOpenMatter(state) ? 1 : 0])

  /** A reply settles what the message that it answers has left open. */
  function answer(seq: number, message: Message): void {
    const open = of.all<OwedRow>([seq]).map(([owner, kind, state, asker]) => ({ owner, kind, state, asker }))
    for (const { owner, kind, to } of movedBy(message, open)) move(seq, owner, kind, to)
  }

  /** A report settles the task that it names. */
  function report({ kind, key, step }: Report, from: string): void {
    for (const [seq, owner, state] of reported.all<[number, string, MatterState]>([kind, key, from])) {
      const to = next(findStep(kind, step), kind as Kind, state)
      if (to !== undefined) move(seq, owner, kind as Kind, to)
    }
  }

  /** What a member does counts for its group: one who does the work is enough, an ack is needed of each. */
  function settleGroup(seq: number, state: ReceiptChange['state'], step: ReceiptStep): void {
    for (const [group, kind, now] of of.all<OwedRow>([seq])) {
      if (!isGroupBox(group)) continue
      const to = settled(kind, now, state, step)
      const isEnough = to === 'done' || (to === 'acked' && unacked.get([group, seq]) === undefined)
      if (isEnough) move(seq, group, kind, to)
      // It has expired, and nobody who has read it has it any more.
      else if (isOpenMatter(now) && isLost(seq, group)) move(seq, group, kind, 'void')
    }
  }

  return {
    /** Most messages neither open nor settle anything. */
    concerns: (message: Message): boolean =>
      message.requiresAck ||
      message.replyTo !== undefined ||
      typeOf(message.type)?.reports !== undefined ||
      opens(message) !== undefined,

    applyMessage(message: Message, seq: number): void {
      const parent = message.replyTo === undefined ? undefined : seqOf.get<[number]>([message.replyTo])?.[0]
      if (parent !== undefined) answer(parent, message)
      const said = reportOf(message)
      if (said !== undefined) report(said, message.from)
      for (const { owner, kind, state, asker, key, since, until, level } of openedBy(message, seq)) {
        if (key !== null) reassigned.run([kind, key, asker])
        put.run([seq, owner, kind, state, asker, key, since, until, level, 1])
      }
    },

    applyReceipt({ seq, owner, state }: ReceiptChange, step: ReceiptStep): void {
      if (step === 'overdue') raise.run([seq, owner])
      // What a group was asked is still owed by its members who have read it.
      if (state === 'expired' && isGroupBox(owner) && readers.get([seq]) !== undefined) return
      const own = ofOwner.all<[Kind, MatterState]>([seq, owner])
      for (const [kind, now] of own) {
        const to = settled(kind, now, state, step)
        if (to !== undefined && to !== now) move(seq, owner, kind, to)
      }
      if (own.length === 0 && !isGroupBox(owner)) settleGroup(seq, state, step)
    },
  }
}

/** A dead letter was revived, with the state it had, or is unread again. */
const isBackFrom = (state: ReceiptChange['state'], step: ReceiptStep): boolean =>
  state === 'stored' || step === 'revived'

/** What a receipt's new state means for a matter of that recipient; undefined if nothing. */
function settled(
  kind: Kind,
  now: MatterState,
  state: ReceiptChange['state'],
  step: ReceiptStep,
): MatterState | undefined {
  if (isDeadLetter(state) || state === 'withdrawn') return isOpenMatter(now) ? 'void' : undefined
  const { handled } = matterOf(kind) ?? {}
  const isBack = (state === 'stored' && now === 'failed') || (now === 'void' && isBackFrom(state, step))
  // Starting a failed task reopens it.
  if (isBack || (handled !== undefined && state === 'processing' && now === 'failed')) return 'open'
  if (kind === 'ack') return isAcked(state) ? 'acked' : undefined
  const isDone = state === 'completed' || state === 'archived'
  if (!isOpenMatter(now) || !(isDone || state === 'failed')) return undefined
  if (handled === undefined) return 'closed'
  // What is archived unfinished is not done.
  const isUndone = state === 'failed' || step === 'archived'
  return next(findStep(kind, isUndone ? handled.fail : handled.done), kind, now)
}
