import type { Letter, View } from '../../conversation/view.ts'
import { escalation } from '../../model/receipt.ts'
import { isoTime } from '../../model/time.ts'
import type { Context } from '../context.ts'
import { escalate, nextToTell } from './escalation.ts'
import type { LetterChanges } from './letter-changes.ts'

/** An ack did not come: show the message again, then tell the lead, then the person, then leave it. */
export function remind(view: View, letters: LetterChanges, letter: Letter, context: Context): void {
  const { now, policy } = context
  const again = { ackBy: isoTime(now + policy.ackTimeoutMs) }
  const claim = letter.claimUntil === null ? {} : { claimUntil: isoTime(letter.claimUntil) }
  if (letter.repeats < policy.ackRepeats) {
    const repeats = letter.repeats + 1
    letters.change(letter, 'repeated', 'stored', 'no ack came', { ...claim, ...again, repeats })
    return
  }
  const next = nextToTell(view, letter, context)
  const rest = next.level === escalation.person ? {} : again
  const change = { ...claim, ...rest, level: next.level }
  escalate(view, letters, letter, { next, change, reason: 'no ack came' }, context)
}
