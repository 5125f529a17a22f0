import type { Database } from '../base/sqlite.ts'
import type { Message } from '../model/message.ts'
import { classOf, type ReceiptChange, type ReceiptStep } from '../model/receipt.ts'

/** Mail to a role that one of its holders is offered first, until somebody takes it or it is free for all. */
export function createOffers(database: Database) {
  const put = database.prepare('INSERT OR IGNORE INTO offer VALUES (?, ?, ?)')
  const drop = database.prepare('DELETE FROM offer WHERE seq = ?')
  return {
    applyMessage({ to, offeredTo, offeredUntil }: Message, seq: number): void {
      if (offeredTo === undefined || offeredUntil === undefined || !to[0]?.startsWith('role:')) return
      put.run([seq, offeredTo, Date.parse(offeredUntil)])
    },
    applyReceipt({ seq, owner, box, state }: ReceiptChange, step: ReceiptStep): void {
      const isOver = step === 'released' || box !== owner || classOf(state) !== 'unread'
      if (isOver && owner.startsWith('role:')) drop.run([seq])
    },
  }
}
