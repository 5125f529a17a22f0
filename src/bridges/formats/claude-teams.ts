import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { nearest } from '../../base/nearest.ts'
import { frameOf, idOf, isFarewell, isNoMail, textsOf, toLetter } from '../claude/frames.ts'
import { guestsOf, memberOf, nameHere, nameInTeam, ownTeams } from '../claude/names.ts'
import { readLost, readNative } from '../claude/native-mail.ts'
import { readTasks, setTaskState, taskPath } from '../claude/task-files.ts'
import {
  changeInbox,
  changeMembers,
  configPath,
  type InboxEntry,
  inboxesDir,
  inboxPath,
  type Member,
  ourType,
  readInbox,
  type Team,
  teamsDir,
} from '../claude/team-files.ts'
import type { Folder } from '../folder.ts'
import type { CopyFact, CopyState, Fact, Format, Link, Outgoing } from '../format.ts'
import { LockHeld } from '../lock.ts'

/*
 * Claude Code's agent teams, live. Agents of ours are members of their own; members of theirs are agents here, called
 * TEAM/NAME, or by the name that their own hooks have given them: those get their mail from the hooks and not from
 * the file. See claude/team-files.ts for the files.
 */

const name = 'claude-teams'
const isOurs = ({ agentType }: Member): boolean => agentType === ourType

function* read(folder: Folder): Generator<Fact> {
  const teams = ownTeams(folder)
  const alive = teams.filter(({ isAlive }) => isAlive)
  yield* readDepartures(folder, alive)
  for (const team of alive) {
    const guests = new Map(guestsOf(folder, team).map((guest) => [guest.name, guest.agent.name]))
    for (const member of team.members)
      if (!isOurs(member))
        yield { kind: 'agent', name: nameHere(folder, team, member.name), tags: [`team:${team.label}`] }
    for (const path of folder.files(inboxesDir(team.name), '.json')) {
      const to = basename(path, '.json')
      const guest = guests.get(to)
      const member = team.members.find((one) => inboxPath(team.name, one.name) === path)
      if (member !== undefined && !isOurs(member)) yield* readNative(folder, team, member.name)
      else if (guest !== undefined) yield* readInbound(folder, team, path, guest)
      else if (member === undefined) yield* readPhantom(folder, team, path, to)
    }
    yield* readTasks(folder, team, guests)
  }
  yield* readLost(folder, (team) => folder.has(configPath(team)))
}

/** Members of teams that have ended are expected back with them. */
function* readDepartures(folder: Folder, teams: readonly Team[]): Generator<Fact> {
  for (const agent of folder.host?.agents.values() ?? []) {
    const [team = '', member] = agent.name.split('/')
    const isTheirs = member !== undefined && agent.tags.includes(`team:${team}`)
    const isThere = teams.some((one) => one.label === team && one.members.some((two) => two.name === member))
    if (isTheirs && !isThere && agent.session.client === 'bridge')
      yield { kind: 'agent', name: agent.name, isHere: false }
  }
}

/** Mail for one of us. */
function* readInbound(folder: Folder, team: Team, place: string, owner: string): Generator<Fact> {
  for (const entry of readInbox(folder, place))
    if (!isNoMail(entry) && !isTask(folder, team, entry)) yield copyOf(folder, team, entry, owner, place)
}

/** The list of tasks says more of a task than the note that it was given to somebody. */
const isTask = (folder: Folder, team: Team, entry: InboxEntry): boolean => {
  const frame = frameOf(entry)
  return frame?.type === 'task_assignment' && folder.has(taskPath(team.name, String(frame['taskId'])))
}

/** An inbox that somebody has written to and nobody reads. */
function* readPhantom(folder: Folder, team: Team, place: string, to: string): Generator<Fact> {
  for (const entry of readInbox(folder, place))
    if (!isNoMail(entry) && folder.memory.note(toldNote(team, entry)) === undefined)
      yield {
        ...copyOf(folder, team, entry, `${team.label}/${to}`, place),
        ...{ isForNobody: true, isPast: true, state: 'dead' },
      }
}

const copyOf = (folder: Folder, team: Team, entry: InboxEntry, owner: string, place: string): CopyFact => ({
  ...{ kind: 'copy', id: idOf(team.name, entry), owner, place, state: undefined },
  letter: toLetter(team.name, nameHere(folder, team, entry.from), entry),
  raw: JSON.stringify(entry),
})

const toldNote = (team: Team, entry: InboxEntry): string => `told ${team.name} ${idOf(team.name, entry)}`
const leftNote = (team: string, member: string): string => `left ${team} ${member}`

function entriesOf(outgoing: Outgoing): InboxEntry[] {
  const { id, letter } = outgoing
  const from = nameInTeam(letter.from)
  const summary = letter.subject?.slice(0, 200)
  return textsOf(outgoing, from).map((text, n) => ({
    ...{ from, text, ...(summary ? { summary } : {}) },
    timestamp: laterBy(letter.at, n),
    ...{ color: 'purple', msgV: 1, msg_id: n === 0 ? id : `${id}-${n}`, type: 'message', read: false },
  }))
}

/** Entries of one message have times of their own. */
const laterBy = (at: string, ms: number): string =>
  ms === 0 ? at : new Date(Date.parse(at) + ms).toISOString()

const render = (_: Folder, outgoing: Outgoing): string =>
  outgoing.raw ??
  entriesOf(outgoing)
    .map((entry) => JSON.stringify(entry))
    .join('\n')

function write(folder: Folder, outgoing: Outgoing): string {
  const { owner, letter } = outgoing
  const found = memberOf(folder, owner)
  const path = found === undefined ? owner : inboxPath(found.team.name, found.member.name)
  // It waits until the team is back.
  if (found === undefined || !found.team.isAlive) throw new LockHeld(path)
  folder.ensureDirectory(inboxesDir(found.team.name))
  append(folder, path, entriesOf(outgoing))
  if (isFarewell(letter))
    folder.memory.setNote(leftNote(found.team.name, nameInTeam(letter.from)), String(found.team.createdAt))
  return path
}

/** Entries of one sender, time and text are one entry there, so their times are made distinct. */
function append(folder: Folder, path: string, entries: readonly InboxEntry[]): void {
  changeInbox(folder, path, (list) => {
    const there = list as InboxEntry[]
    const ids = new Set(there.map(({ msg_id }) => msg_id))
    const fresh = entries.filter(({ msg_id }) => !ids.has(msg_id))
    for (const entry of fresh)
      while (there.some((one) => keyOf(one) === keyOf(entry))) entry.timestamp = laterBy(entry.timestamp, 1)
    return fresh.length === 0 ? undefined : [...there, ...fresh]
  })
}

const keyOf = ({ from, timestamp, text }: InboxEntry): string => `${from}|${timestamp}|${text}`

function setState(folder: Folder, link: Link, state: CopyState, at: string): CopyState {
  if (link.foreign.startsWith('task:')) return setTaskState(folder, link, state, at)
  // Nobody has taken it yet.
  if (state === 'withdrawn' && folder.has(link.place))
    changeInbox(folder, link.place, (list) => {
      const rest = list.filter((entry) => !String((entry as InboxEntry)?.msg_id).startsWith(link.foreign))
      return rest.length === list.length ? undefined : rest
    })
  return state
}

function project(state: CopyState): CopyState {
  if (state === 'processing' || state === 'withdrawn') return state
  return state === 'done' || state === 'filed' || state === 'archived' ? 'done' : 'unread'
}

/** Joins and leaves, takes out what is in the space, and tells senders of mail that reached nobody. */
function tend(folder: Folder): void {
  for (const team of ownTeams(folder)) {
    if (!team.isAlive) continue
    const guests = guestsOf(folder, team).filter(
      (guest) => folder.memory.note(leftNote(team.name, guest.name)) !== String(team.createdAt),
    )
    joinAll(folder, team, guests)
    for (const { name: guest, agent } of guestsOf(folder, team))
      takeOut(folder, team, inboxPath(team.name, guest), agent.name)
    for (const path of folder.files(inboxesDir(team.name), '.json')) tellLost(folder, team, path)
  }
}

function joinAll(folder: Folder, team: Team, guests: ReturnType<typeof guestsOf>): void {
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

function takeOut(folder: Folder, team: Team, path: string, owner: string): void {
  const isDone = (entry: InboxEntry) =>
    folder.memory.linkOf(idOf(team.name, entry), owner) !== undefined || isNoMail(entry)
  if (!folder.has(path) || !readInbox(folder, path).some(isDone)) return
  const isKept = (entry: unknown) => {
    const { from, text, timestamp } = (entry ?? {}) as Partial<InboxEntry>
    const isWhole = [from, text, timestamp].every((one) => typeof one === 'string')
    return !isWhole || !isDone(entry as InboxEntry)
  }
  changeInbox(folder, path, (list) => list.filter(isKept))
}

/** The sender of mail to a name that no member has is told, once, with the name it may have meant. */
function tellLost(folder: Folder, team: Team, path: string): void {
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
    if (folder.memory.note(note) !== undefined || !isTheirs || isNoMail(entry)) continue
    const text = `Your message to ${JSON.stringify(to)} reached nobody: no member of this team has that name.${meant} It was: ${entry.text.slice(0, 200)}`
    const timestamp = new Date(folder.now()).toISOString()
    const told = { from: 'mailbox', text, summary: `${to} does not exist`, timestamp, color: 'purple' }
    append(folder, inboxPath(team.name, entry.from), [
      { ...told, msgV: 1, msg_id: `told-${idOf(team.name, entry)}`, type: 'message', read: false },
    ])
    folder.memory.setNote(note, timestamp)
  }
}

function leave(folder: Folder): void {
  const { id = '' } = folder.host ?? {}
  const isMine = (member: Member) => isOurs(member) && member.mailboxSpace === id
  for (const team of ownTeams(folder))
    if (team.members.some(isMine))
      changeMembers(folder, team.name, (members) => members.filter((member) => !isMine(member)))
}

export const claudeTeams: Format = {
  name,
  about: 'the agent teams of Claude Code',
  usualPaths: ({ HOME = '', CLAUDE_CONFIG_DIR }) => [CLAUDE_CONFIG_DIR || join(HOME, '.claude')],
  fits: (folder) => existsSync(join(folder.root, teamsDir)),
  watched: (folder) => [
    '',
    teamsDir,
    ...ownTeams(folder).flatMap((team) =>
      [join(teamsDir, team.name), inboxesDir(team.name), join('tasks', team.name)].filter((dir) =>
        folder.has(dir),
      ),
    ),
  ],
  read,
  // What members of one team say to one another is said there.
  reaches: (folder, owner, from) =>
    teamOf(from) !== teamOf(owner) && (memberOf(folder, owner) !== undefined || wasMember(folder, owner)),
  idFor: (id) => id,
  render,
  write,
  setState,
  project,
  tend,
  leave,
  cannotHold: [
    'thread',
    'swarm',
    'awaitingResponse',
    'expiresAt',
    'priority',
    'tags',
    'attachments',
    'context',
  ],
}

/** The team in a name such as TEAM/NAME. A name without one is in none. */
const teamOf = (name: string): string =>
  name.includes('/') ? name.slice(0, name.indexOf('/')) : `agent ${name}`

/** It was a member when it was last seen. */
const wasMember = (folder: Folder, owner: string): boolean =>
  owner.includes('/') && folder.memory.agents().includes(owner)
