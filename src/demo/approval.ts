import { fieldsOf } from '../conversation/field.ts'
import type { InboxMessage } from '../mod.ts'

/** The verdict on a plan. */
export function approvalOf({ payload, body }: InboxMessage): { approved: boolean; feedback: string } {
  const { approved, feedback } = fieldsOf(payload)
  return { approved: approved === true, feedback: typeof feedback === 'string' ? feedback : body }
}
