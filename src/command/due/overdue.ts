import type { Matter } from '../../conversation/matter.ts'
import { matterOf } from '../../conversation/registry.ts'
import { person, systemAgent } from '../../model/agent.ts'
import { countedSince, isAwayBox, nextToTell, tellOnce } from './escalation.ts'
import { atOnce, keepTimes, type LetterChanges } from './letter-changes.ts'

/**
 * Somebody waits for an answer. Where a deadline was given, whoever gave it is the first to be told; then, and
 * without one, the lead and the person are, each after as long a wait. Waiting counts while the recipient is here.
 */
export function escalateOverdue(letters: LetterChanges): void {
  const { view, context } = letters
  const { now, policy } = context
  const patience = policy.answerAfterMs
  for (const matter of view.overdue(now, patience > 0 ? now - patience : 0, atOnce)) {
    if (matter.until !== null && matter.level === 0) {
      if (matter.until <= now) missDeadline(letters, matter)
    } else if (patience > 0) escalateAnswer(letters, matter, patience)
  }
}

function missDeadline(letters: LetterChanges, { seq, id, owner, kind, asker }: Matter): void {
  const to = asker === systemAgent ? person : asker
  const receipt = letters.view.receipts(seq).find((one) => one.owner === owner)
  if (receipt === undefined || !letters.mayTell(to, 'deadline')) return
  const letter = { ...receipt, id }
  const next = kind === 'shutdown' ? '; end its process if it must stop now' : ''
  const reason = `the ${kind} was not settled in time${next}`
  if (letters.change(letter, 'overdue', receipt.state, reason, keepTimes(letter)))
    letters.tell(to, 'deadline', letter, reason)
}

function escalateAnswer(letters: LetterChanges, matter: Matter, patience: number): void {
  const { view, context } = letters
  const { seq, id, owner, kind, since, until, level } = matter
  const told = until === null ? level : level - 1
  const receipt = view.receipts(seq).find((one) => one.owner === owner)
  if (receipt === undefined || isAwayBox(view.directory, receipt.box)) return
  if (context.now - countedSince(view.directory, receipt.box, until ?? since) < patience * (told + 1)) return
  const letter = { ...receipt, id }
  if (letters.isBeingRead(letter)) return
  const { to } = nextToTell(letters, { ...letter, level: told })
  if (!letters.mayTell(to, 'answer')) return
  const reason = `no ${matterOf(kind)?.owes ?? 'answer'} yet`
  if (letters.change(letter, 'overdue', receipt.state, reason, keepTimes(letter)) && to !== undefined)
    tellOnce(letters, to, 'answer', letter, reason)
}
