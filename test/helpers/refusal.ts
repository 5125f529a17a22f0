import { expect } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'

/** The error with which a decision is refused; it always says what to do next. */
export function refusal(work: () => unknown): MailboxError {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(MailboxError)
    expect((error as MailboxError).hint).toMatch(/\S/)
    return error as MailboxError
  }
  throw new Error('it was accepted')
}
