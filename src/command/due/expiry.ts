import type { Letter, View } from '../../conversation/view.ts'
import { isGroupBox } from '../../model/address.ts'
import { isOutdated } from '../../model/reach.ts'
import { classOf, isDeadLetter, type Receipt } from '../../model/receipt.ts'
import type { LetterChanges } from './letter-changes.ts'

/** Mail for an earlier run must not reach a successor. */
export function expireForRun(letters: LetterChanges, letter: Letter): void {
  const { view } = letters
  const agent = view.directory.agents.get(letter.owner)
  const message = view.message(letter.id)
  if (agent === undefined || message === undefined || !isOutdated(agent, message)) return
  const reason = `it was for generation ${message.generation} of ${agent.name}, which is now generation ${agent.session.generation}`
  letters.undeliverable(letter, 'dead', reason)
}

/** Boxes of agents that are expected back: their mail does not expire meanwhile. */
export const frozenBoxes = ({ directory }: View): string[] => [...directory.frozen.keys()]

/** Group mail that somebody has read has done its work; of other mail the sender is told. */
export function expire(letters: LetterChanges, letter: Letter): void {
  const read = isGroupBox(letter.owner) && letters.view.receipts(letter.seq).some(wasRead)
  if (read) letters.change(letter, 'expired', 'expired', 'it expired')
  else letters.undeliverable(letter, 'expired', 'it expired before anybody read it')
}

const wasRead = ({ owner, state }: Receipt): boolean =>
  !isGroupBox(owner) && classOf(state) !== 'unread' && !isDeadLetter(state)
