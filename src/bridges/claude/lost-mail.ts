import { basename } from 'node:path'
import { nearest } from '../../base/nearest.ts'
import type { Folder } from '../folder.ts'
import { append } from './appending.ts'
import { idOf, isNoMail } from './frames.ts'
import { isOurs } from './membership.ts'
import { guestsOf } from './names.ts'
import { inboxPath, type Team } from './team-files.ts'
import { type InboxEntry, readInbox } from './team-inbox.ts'

export const toldNote = (team: Team, entry: InboxEntry): string =>
  `told ${team.name} ${idOf(team.name, entry)}`

/** The sender of mail to a name that no member has is told, once, with the name it may have meant. */
export function tellLost(folder: Folder, team: Team, path: string): void {
  if (team.members.some((member) => inboxPath(team.name, member.name) === path)) return
  const to = basename(path, '.json')
  const isGuest = guestsOf(folder, team).some((guest) => guest.name === to)
  const near = nearest(
    to,
    team.members.map((member) => member.name),
  )
  const meant = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
  for (const entry of isGuest ? [] : readInbox(folder, path)) {
    const note = toldNote(team, entry)
    const isTheirs = team.members.some((member) => member.name === entry.from && !isOurs(member))
    // One that came since the inbox was read is a dead letter at the next look, and its sender is told then.
    const isKept = folder.memory.link(idOf(team.name, entry), '') !== undefined
    if (!isKept || folder.memory.note(note) !== undefined || !isTheirs || isNoMail(entry)) continue
    const text = `Your message to ${JSON.stringify(to)} reached nobody: no member of this team has that name.${meant} It was: ${entry.text.slice(0, 200)}`
    const timestamp = new Date(folder.now()).toISOString()
    const told = { from: 'mailbox', text, summary: `${to} does not exist`, timestamp, color: 'purple' }
    append(folder, inboxPath(team.name, entry.from), [
      { ...told, msgV: 1, msg_id: `told-${idOf(team.name, entry)}`, type: 'message', read: false },
    ])
    folder.memory.setNote(note, timestamp)
  }
}
