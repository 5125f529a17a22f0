import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../base/objects.ts'
import { localProcess, processState } from '../../base/process.ts'
import type { Folder } from '../folder.ts'
import { withLock } from '../lock.ts'

/*
 * The files of Claude Code's agent teams, below its configuration directory:
 *
 *   teams/TEAM/config.json         the roster, written in place
 *   teams/TEAM/inboxes/NAME.json   the inbox of a member: a list, replaced by rename; readers take entries out
 *   tasks/TEAM/N.json              a task
 *
 * FILE.lock is a directory, kept for milliseconds and abandoned after 10 s without a touch.
 */

export const teamsDir = 'teams'
export const leadName = 'team-lead'
/** What members of ours are in a roster there. */
export const ourType = 'agent-mailbox'

export const lockManner = { kind: 'directory', staleMs: 10_000 } as const

export interface Member {
  agentId: string
  name: string
  agentType?: string
  /** The space whose bridge has put it there. */
  mailboxSpace?: string
  [more: string]: unknown
}

export interface Team {
  /** The name of its folder. */
  name: string
  /** What it is called here: after its session, because a resumed session makes a new folder. */
  label: string
  createdAt: number
  sessionId: string
  leadPid: number | undefined
  cwd: string
  members: Member[]
  /** The process of its lead runs. */
  isAlive: boolean
}

export const configPath = (team: string): string => join(teamsDir, team, 'config.json')
export const inboxesDir = (team: string): string => join(teamsDir, team, 'inboxes')
export const inboxPath = (team: string, name: string): string =>
  join(inboxesDir(team), `${name.replaceAll(/[^\w-]/g, '-')}.json`)

/** All teams whose roster can be read. One that is being written is looked at again. */
export function teamsIn(folder: Folder): Team[] {
  return folder.directories(teamsDir).flatMap((name) => {
    if (/\.deleted-/.test(name)) return []
    const team = readTeam(folder, name)
    return team === undefined ? [] : [team]
  })
}

function readTeam(folder: Folder, name: string): Team | undefined {
  const path = configPath(name)
  if (!folder.has(path)) return undefined
  const config = readConfig(folder, path)
  if (config === undefined) return undefined
  const members = membersOf(config)
  const lead = members.find((member) => member.name === leadName)
  const { createdAt, leadSessionId, leadProcess } = config
  const { pid, procStart } = isObject(leadProcess) ? leadProcess : {}
  const isKnown = typeof pid === 'number' && typeof procStart === 'string'
  const isAlive = !isKnown || processState(localProcess(pid, procStart)) !== 'gone'
  const session = isAlive && typeof pid === 'number' ? sessionOf(folder, pid) : undefined
  if (session === 'starting' && folder.now() - Number(createdAt) < startMs) {
    folder.isUnsettled = true
    return undefined
  }
  const told = typeof leadSessionId === 'string' ? leadSessionId : ''
  const sessionId = session === undefined || session === 'starting' ? told : session
  return {
    label: /^session-[0-9a-f]{8}$/.test(name) ? labelOf(sessionId) : name,
    ...{ name, members, createdAt: typeof createdAt === 'number' ? createdAt : 0 },
    sessionId,
    leadPid: typeof pid === 'number' ? pid : undefined,
    cwd: typeof lead?.['cwd'] === 'string' ? lead['cwd'] : '',
    isAlive,
  }
}

export const labelOf = (sessionId: string): string => `session-${sessionId.slice(0, 8)}`

/** A session that is resumed begins with an id of its own making, and has no status until it has the right one. */
const startMs = 10_000

function sessionOf(folder: Folder, pid: number): string | 'starting' | undefined {
  if (!folder.has('sessions')) return undefined
  const path = join('sessions', `${pid}.json`)
  const file = folder.has(path) ? folder.read(path) : undefined
  try {
    const record: unknown = file === undefined ? undefined : JSON.parse(file.text)
    const { sessionId, status } = isObject(record) ? record : {}
    return typeof sessionId === 'string' && typeof status === 'string' ? sessionId : 'starting'
  } catch {
    return 'starting'
  }
}

const membersOf = (config: Record<string, unknown>): Member[] =>
  (config['members'] as unknown[]).filter(
    (one): one is Member =>
      isObject(one) && typeof one['agentId'] === 'string' && typeof one['name'] === 'string',
  )

/** The roster of a team; undefined if it has not the shape that we know, and is to be left alone. */
function readConfig(folder: Folder, path: string): Record<string, unknown> | undefined {
  const file = folder.read(path)
  if (file === undefined) return undefined
  try {
    const config: unknown = JSON.parse(file.text)
    if (isObject(config) && Array.isArray(config['members'])) return config
    folder.problem(path, 'has no list of members: this is not a team as Claude Code 2.1 writes it')
  } catch {
    if (folder.isSettled(path)) folder.problem(path, 'is not JSON')
  }
  return undefined
}

/** Changes the members of a team, as Claude Code does: under the lock, in place. Nothing is written without need. */
export function changeMembers(
  folder: Folder,
  team: string,
  change: (members: readonly Member[]) => Member[] | undefined,
): void {
  const path = configPath(team)
  withLock(folder, `${path}.lock`, lockManner, () => {
    const config = readConfig(folder, path)
    if (config === undefined) return
    const members = change(config['members'] as Member[])
    if (members !== undefined)
      writeInPlace(folder.inside(path), JSON.stringify({ ...config, members }, null, 2))
  })
}

/** Blanks cover what was longer before, so that it is whole for whoever reads it before it is cut off. */
function writeInPlace(path: string, text: string): void {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW)
  try {
    const length = Buffer.byteLength(text)
    const bytes = Buffer.alloc(Math.max(length, fstatSync(fd).size), ' ')
    bytes.write(text)
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at)
    ftruncateSync(fd, length)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
