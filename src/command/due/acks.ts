import type { Letter } from '../../conversation/view.ts'
import { escalation } from '../../model/receipt.ts'
import { isoTime } from '../../model/time.ts'
import { countedSince, escalate, isAwayBox, nextToTell } from './escalation.ts'
import type { LetterChanges } from './letter-changes.ts'

/** An ack did not come: show the message again, then tell the lead, then the person, then leave it. */
export function remind(letters: LetterChanges, letter: Letter): void {
  const { view, context } = letters
  const { now, policy } = context
  // An agent that was away has as much time as any other once it is back.
  if (isAwayBox(view.directory, letter.box)) return
  if (now - countedSince(view.directory, letter.box, 0) < policy.ackTimeoutMs) return
  const again = { ackBy: isoTime(now + policy.ackTimeoutMs) }
  const claim = letter.claimUntil === null ? {} : { claimUntil: isoTime(letter.claimUntil) }
  if (letter.repeats < policy.ackRepeats) {
    const repeats = letter.repeats + 1
    letters.change(letter, 'repeated', 'stored', 'no ack came', { ...claim, ...again, repeats })
    return
  }
  if (letters.isBeingRead(letter)) return
  const next = nextToTell(letters, letter)
  const rest = next.level === escalation.person ? {} : again
  escalate(letters, letter, next, 'ack', { ...claim, ...rest, level: next.level }, 'no ack came')
}
