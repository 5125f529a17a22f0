import type { Database } from '../base/sqlite.ts'
import { next, openedBy, opens, reportOf, stepOf } from '../conversation/matter.ts'
import {
  findStep,
  isOpenMatter,
  type Kind,
  type MatterState,
  matterOf,
  type TakenStep,
  typeOf,
} from '../conversation/registry.ts'
import { isGroupBox } from '../model/address.ts'
import { systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import { isAcked, isDeadLetter, type ReceiptChange, type ReceiptStep } from '../model/receipt.ts'

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

  const move = (seq: number, owner: string, kind: Kind, state: MatterState) =>
    set.run([seq, owner, kind, state, isOpenMatter(state) ? 1 : 0])

  /**
   * One answer to a question, or one verdict on a plan, counts for everyone who was asked. What each agent
   * must answer for itself, its status and whether it shuts down, settles only what that agent owes.
   */
  function take(step: TakenStep, seq: number, message: Message): void {
    const owners = of.all<OwedRow>([seq])
    const isOwn = owners.some(([owner]) => owner === message.from)
    for (const [owner, kind, state, asker] of owners) {
      if (isOwn && step.each && owner !== message.from) continue
      const to = next(step, kind, state)
      if (to === undefined || (step.name === 'answer' && !isAnswer(message, asker))) continue
      move(seq, owner, kind, to)
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
      const step = stepOf(message)
      const parent = message.replyTo === undefined ? undefined : seqOf.get<[number]>([message.replyTo])?.[0]
      if (step !== undefined && parent !== undefined) take(step, parent, message)
      const report = reportOf(message)
      if (report !== undefined) {
        const kind = report.kind as Kind
        const about = reported.all<[number, string, MatterState]>([kind, report.key, message.from])
        for (const [parent, owner, state] of about) {
          const to = next(findStep(kind, report.step), kind, state)
          if (to !== undefined) move(parent, owner, kind, to)
        }
      }
      for (const { owner, kind, state, asker, key, since, until, level } of openedBy(message, seq))
        put.run([seq, owner, kind, state, asker, key, since, until, level, 1])
    },

    applyReceipt({ seq, owner, state }: ReceiptChange, step: ReceiptStep): void {
      if (step === 'overdue') raise.run([seq, owner])
      const own = ofOwner.all<[Kind, MatterState]>([seq, owner])
      for (const [kind, now] of own) {
        const to = settled(kind, now, state, step)
        if (to !== undefined && to !== now) move(seq, owner, kind, to)
      }
      if (own.length > 0 || isGroupBox(owner)) return
      // One member has handled what its group was asked: that is enough.
      for (const [group, kind, now] of of.all<OwedRow>([seq])) {
        if (!isGroupBox(group)) continue
        const to = settled(kind, now, state, step)
        if (to === 'acked' || to === 'done') move(seq, group, kind, to)
      }
    },
  }
}

/** A follow-up by the asker is not an answer, nor is passing the matter on to someone else. */
const isAnswer = ({ from, to, type }: Message, asker: string): boolean =>
  from !== asker && from !== systemAgent && !typeOf(type)?.settlesNothing && to.includes(asker)

/** What a receipt's new state means for a matter of that recipient; undefined if nothing. */
function settled(
  kind: Kind,
  now: MatterState,
  state: ReceiptChange['state'],
  step: ReceiptStep,
): MatterState | undefined {
  if (isDeadLetter(state) || state === 'withdrawn') return isOpenMatter(now) ? 'void' : undefined
  const { handled } = matterOf(kind) ?? {}
  const isBack = state === 'stored' && (now === 'void' || now === 'failed')
  // Starting a failed task reopens it.
  if (isBack || (handled !== undefined && state === 'processing' && now === 'failed')) return 'open'
  if (kind === 'ack') return isAcked(state) ? 'acked' : undefined
  if (handled === undefined) return undefined
  // What is archived unfinished is not done.
  if ((step === 'archived' && isOpenMatter(now)) || state === 'failed')
    return next(findStep(kind, handled.fail), kind, now)
  return state === 'completed' || state === 'archived'
    ? next(findStep(kind, handled.done), kind, now)
    : undefined
}
