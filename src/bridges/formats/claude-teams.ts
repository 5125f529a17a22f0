import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { append, laterBy } from '../claude/appending.ts'
import { frameOf, idOf, isNoMail, taskIn, toLetter } from '../claude/frames.ts'
import { isFarewell, textsOf } from '../claude/frames-out.ts'
import { tellLost, toldNote } from '../claude/lost-mail.ts'
import { isOurs, joinAll, leave } from '../claude/membership.ts'
import { guestsOf, memberOf, nameHere, nameInTeam, ownTeams, plainName } from '../claude/names.ts'
import { readLost, readNative } from '../claude/native-mail.ts'
import { mustBeStarted } from '../claude/starting.ts'
import { readTasks, setTaskState, taskPath } from '../claude/task-files.ts'
import { configPath, inboxesDir, inboxPath, type Team, teamsDir } from '../claude/team-files.ts'
import { changeInbox, type InboxEntry, isEntry, readInbox } from '../claude/team-inbox.ts'
import type { Folder } from '../folder.ts'
import type { CopyFact, CopyState, Fact, Format, Link, Outgoing } from '../format.ts'
import { LockHeld } from '../lock.ts'

/*
 * Claude Code's agent teams, live. Agents of ours are members of their own; members of theirs are agents here, called
 * TEAM/NAME, or by the name that their own hooks have given them: those get their mail from the hooks and not from
 * the file. See claude/team-files.ts for the files.
 */

const name = 'claude-teams'
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
  const task = taskIn(frameOf(entry))
  return task !== undefined && folder.has(taskPath(team.name, task))
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

const leftNote = (team: string, member: string): string => `left ${team} ${member}`

function entriesOf(outgoing: Outgoing, from: string): InboxEntry[] {
  const { id, letter } = outgoing
  const summary = letter.subject?.slice(0, 200)
  return textsOf(outgoing, from).map((text, n) => ({
    ...{ from, text, ...(summary ? { summary } : {}) },
    timestamp: laterBy(letter.at, n),
    ...{ color: 'purple', msgV: 1, msg_id: n === 0 ? id : `${id}-${n}`, type: 'message', read: false },
  }))
}

const render = (_: Folder, outgoing: Outgoing): string =>
  outgoing.raw ??
  entriesOf(outgoing, plainName(outgoing.letter.from))
    .map((entry) => JSON.stringify(entry))
    .join('\n')

function write(folder: Folder, outgoing: Outgoing): string {
  const { owner, letter, wasDelivered } = outgoing
  const found = memberOf(folder, owner)
  const path = found === undefined ? owner : inboxPath(found.team.name, found.member.name)
  // It waits until the team is back.
  if (found === undefined || !found.team.isAlive) throw new LockHeld(path)
  folder.ensureDirectory(inboxesDir(found.team.name))
  if (wasDelivered) return path
  mustBeStarted(folder, found.team, found.member)
  const from = nameInTeam(folder, found.team, letter.from)
  append(folder, path, entriesOf(outgoing, from))
  if (isFarewell(letter)) folder.memory.setNote(leftNote(found.team.name, from), String(found.team.createdAt))
  return path
}

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

function takeOut(folder: Folder, team: Team, path: string, owner: string): void {
  const isDone = (entry: InboxEntry) =>
    folder.memory.linkOf(idOf(team.name, entry), owner) !== undefined || isNoMail(entry)
  if (!folder.has(path) || !readInbox(folder, path).some(isDone)) return
  changeInbox(folder, path, (list) => list.filter((entry) => !isEntry(entry) || !isDone(entry)))
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
