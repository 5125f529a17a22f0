import type { Folder } from '../folder.ts'
import { type guestsOf, ownTeams } from './names.ts'
import { changeMembers, type Member, ourType, type Team } from './team-files.ts'

export const isOurs = ({ agentType }: Member): boolean => agentType === ourType

/** Puts our agents on the roster of a team, and takes those off that are not here any more. */
export function joinAll(folder: Folder, team: Team, guests: ReturnType<typeof guestsOf>): void {
  const { id = '' } = folder.host ?? {}
  const isMine = (member: Member) => isOurs(member) && member.mailboxSpace === id
  const wanted = new Set(guests.map((guest) => guest.name))
  const isWanted = (member: Member) => !isMine(member) || wanted.has(member.name)
  const missing = (members: readonly Member[]) =>
    guests.filter((guest) => members.every((member) => member.name !== guest.name))
  if (team.members.every(isWanted) && missing(team.members).length === 0) return
  changeMembers(folder, team.name, (members) => [
    ...members.filter(isWanted),
    ...missing(members).map((guest) => ({
      ...{ agentId: `${guest.name}@${team.name}`, name: guest.name, color: 'purple' },
      ...{ joinedAt: folder.now(), tmuxPaneId: 'external', subscriptions: [], agentType: ourType },
      ...{ cwd: team.cwd, mailboxSpace: id },
    })),
  ])
}

/** Takes everybody off that this space has put on a roster. */
export function leave(folder: Folder): void {
  const { id = '' } = folder.host ?? {}
  const isMine = (member: Member) => isOurs(member) && member.mailboxSpace === id
  for (const team of ownTeams(folder))
    if (team.members.some(isMine))
      changeMembers(folder, team.name, (members) => members.filter((member) => !isMine(member)))
}
