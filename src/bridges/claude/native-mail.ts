import { isObject } from '../../base/objects.ts'
import type { Folder } from '../folder.ts'
import type { CopyFact, Fact } from '../format.ts'
import { idOf, isNoMail, toLetter, wordsOf } from './frames.ts'
import { isOurs } from './membership.ts'
import { hookedAgent, nameHere } from './names.ts'
import { inboxPath, labelOf, leadName, type Team } from './team-files.ts'
import { type InboxEntry, readInbox } from './team-inbox.ts'
import { isInTranscript } from './transcript.ts'

/*
 * What members of a team write to one another is theirs to deliver. It is kept here as history once it was taken. What
 * was taken from the inbox of an agent of ours and did not get into its conversation is sent to it here, and its own
 * hooks bring it: once, because by then the file has it no more.
 */

/** Mail that was taken has this long to get into the conversation. */
const arrivalMs = 10_000
/** An inbox this long has been seen to be taken from no more: what has lain in it for a while is stuck. */
const stuckAt = 900
const stuckMs = 60_000
/** A lead that looks into its inbox does so every second. */
const unreadMs = 10_000

const notePrefix = 'held '

interface Held {
  team: string
  to: string
  sessionId: string
  entry: InboxEntry
  takenAt?: number
}

const noteOf = (team: string, to: string, id: string): string => `${notePrefix}${team}/${to}/${id}`

/** Notes what lies in the inbox of a member, and yields what has left it since. */
export function* readNative(folder: Folder, team: Team, to: string): Generator<Fact> {
  const { memory } = folder
  const place = inboxPath(team.name, to)
  const entries = readInbox(folder, place)
  const lying = new Set<string>()
  const isStuck = entries.length >= stuckAt && hookedAgent(folder, team, to) !== undefined
  if (to === leadName && entries.some((entry) => isUnreadFor(folder, team, entry)))
    folder.problem(place, isAlone)
  for (const entry of entries) {
    const id = idOf(team.name, entry)
    lying.add(id)
    // What is from here is known here.
    if (memory.link(id, '') !== undefined || isNoMail(entry)) continue
    if (isStuck && folder.now() - Date.parse(entry.timestamp) > stuckMs)
      yield factOf(folder, team, to, entry, 'unread')
    else {
      const note = noteOf(team.name, to, id)
      const held: Held = { team: team.name, to, sessionId: team.sessionId, entry }
      if (memory.note(note) === undefined) memory.setNote(note, JSON.stringify(held))
    }
  }
  for (const [rest, text] of memory.notes(noteOf(team.name, to, ''))) {
    if (lying.has(rest)) continue
    const held = heldIn(text)
    if (held === undefined) memory.forgetNote(noteOf(team.name, to, rest))
    else yield* settle(folder, team, held, rest)
  }
}

const isAlone =
  'has mail that is not read: a lead reads its inbox only once it has started a teammate of its own. Install the hooks (mailbox init), or bridge claude-sessions'

/** Mail of ours lies in the inbox of a lead that has no teammate but ours. */
function isUnreadFor(folder: Folder, team: Team, entry: InboxEntry): boolean {
  const isLong = folder.now() - Date.parse(entry.timestamp) > unreadMs
  const hasMate = team.members.some((member) => member.name !== leadName && !isOurs(member))
  return isLong && !hasMate && folder.memory.link(idOf(team.name, entry), '') !== undefined
}

function heldIn(text: string): Held | undefined {
  const held: unknown = JSON.parse(text)
  return isObject(held) && isObject(held['entry']) ? (held as unknown as Held) : undefined
}

/** It was taken. Its receiver has it, or has it not. */
function* settle(folder: Folder, team: Team, held: Held, id: string): Generator<Fact> {
  const { memory } = folder
  const { entry, to, takenAt = folder.now() } = held
  const note = noteOf(team.name, to, id)
  if (memory.link(id, '') !== undefined) return memory.forgetNote(note)
  const isHooked = hookedAgent(folder, team, to) !== undefined
  const isThere = isHooked ? isInTranscript(folder, held.sessionId, wordsOf(entry)) : true
  if (isThere !== false) yield factOf(folder, team, to, entry, 'read')
  else if (folder.now() - takenAt >= arrivalMs) yield factOf(folder, team, to, entry, 'unread')
  else {
    if (held.takenAt === undefined) memory.setNote(note, JSON.stringify({ ...held, takenAt }))
    folder.isUnsettled = true
  }
}

function factOf(
  folder: Folder,
  team: Team,
  to: string,
  entry: InboxEntry,
  state: 'read' | 'unread',
): CopyFact {
  return {
    kind: 'copy',
    id: idOf(team.name, entry),
    owner: nameHere(folder, team, to),
    place: inboxPath(team.name, to),
    state: undefined,
    ...(state === 'read' ? { isPast: true, state } : {}),
    letter: toLetter(team.name, nameHere(folder, team, entry.from), entry),
    raw: JSON.stringify(entry),
  }
}

/** What lay in the inboxes of a team that is gone was lost there. */
export function* readLost(folder: Folder, isThere: (team: string) => boolean): Generator<Fact> {
  const { memory } = folder
  for (const [rest, text] of memory.notes(notePrefix)) {
    const held = heldIn(text)
    if (held !== undefined && isThere(held.team)) continue
    if (held === undefined || memory.link(idOf(held.team, held.entry), '') !== undefined) {
      memory.forgetNote(`${notePrefix}${rest}`)
      continue
    }
    const { team: name, to, sessionId, entry } = held
    const label = labelOf(sessionId)
    const gone = { label, createdAt: 0, leadPid: undefined, cwd: '', members: [], isAlive: false }
    const fact = factOf(folder, { name, sessionId, ...gone }, to, entry, 'unread')
    const isHooked = !fact.owner.includes('/')
    yield isHooked ? fact : { ...fact, isPast: true, state: 'dead' }
  }
}
