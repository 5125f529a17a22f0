import { atOnce, type LetterChanges } from './letter-changes.ts'

/** Mail that was offered to one holder of a role, who did not take it in time or is gone: it is free for all of them. */
export function endOffers(letters: LetterChanges): void {
  const { view, context } = letters
  for (const { agent, until, ...letter } of view.offers(atOnce)) {
    const holder = view.directory.here.get(agent)
    const isThere = holder?.roles.includes(letter.owner.slice('role:'.length)) ?? false
    if (isThere && until > context.now) continue
    const note = isThere ? `${agent} did not take it in time` : `${agent} is not there to take it`
    letters.change(letter, 'released', letter.state, note)
  }
}
