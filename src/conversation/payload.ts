import { MailboxError } from '../base/errors.ts'
import { findMisfit } from './field.ts'
import { typeOf } from './registry.ts'

/** Checks what does not depend on the state: whether the payload is one of its type. */
export function checkPayload(type: string | undefined, payload: unknown, isReply: boolean): void {
  const fields = typeOf(type ?? '')?.payload
  if (fields === undefined) return
  // Types whose payload says what they mean cannot do without it as a reply.
  const isNeeded = isReply && Object.values(fields).some(({ required }) => required)
  if (payload === undefined && !isNeeded) return
  const misfit = findMisfit(fields, payload)
  if (misfit === undefined) return
  const where = ['payload', ...misfit.path].join('.')
  throw new MailboxError('invalid', `${where} of a ${type} ${misfit.problem}`, {
    hint: `a ${type} has ${Object.keys(fields).join(', ')}`,
  })
}
