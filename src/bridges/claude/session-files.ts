import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { isObject } from '../../base/objects.ts'
import { localProcess, processState } from '../../base/process.ts'
import type { Folder } from '../folder.ts'

/*
 * The registry of Claude Code's sessions, below its configuration directory: sessions/PID.json for each, with the path
 * of the socket at which it takes messages, and sessions/PID.HASH.key with a token for that socket.
 */

export const sessionsDir = 'sessions'
/** What a record of ours says it was started by. */
const ourEntry = 'agent-mailbox'
/** Longer paths are no sockets. */
const maxSocketPath = 103

export interface SessionRecord {
  pid: number
  sessionId: string
  socket: string
  name: string
  cwd: string
  isOurs: boolean
  /** The space that has written it, if it is ours. */
  space: string | undefined
}

/** The sessions that run and can be written to. A record of another shape is none. */
export function sessionsIn(folder: Folder): SessionRecord[] {
  return folder.files(sessionsDir, '.json').flatMap((path) => {
    const pid = Number(/(\d+)\.json$/.exec(path)?.[1])
    const record = Number.isSafeInteger(pid) ? recordIn(folder, path) : undefined
    if (record === undefined) return []
    const { sessionId, messagingSocketPath: socket, name, cwd, entrypoint, procStart, mailboxSpace } = record
    const isWhole = typeof sessionId === 'string' && typeof socket === 'string' && typeof name === 'string'
    if (!isWhole || !socket.endsWith('.sock') || socket.length > maxSocketPath) return []
    const isOurs = entrypoint === ourEntry
    const isGone =
      !isOurs && typeof procStart === 'string' && processState(localProcess(pid, procStart)) === 'gone'
    if (isGone) return []
    const space = typeof mailboxSpace === 'string' ? mailboxSpace : undefined
    return [{ pid, sessionId, socket, name, cwd: typeof cwd === 'string' ? cwd : '', isOurs, space }]
  })
}

function recordIn(folder: Folder, path: string): Record<string, unknown> | undefined {
  const file = folder.read(path)
  try {
    const record: unknown = file === undefined ? undefined : JSON.parse(file.text)
    return isObject(record) ? record : undefined
  } catch {
    // It is rewritten in place: the next look sees it whole.
    return undefined
  }
}

/** Where the sockets of running sessions are, if there are any. */
export const socketDirOf = (sessions: readonly SessionRecord[]): string | undefined => {
  const found = sessions.find(({ isOurs, socket }) => !isOurs && /\/cc-socks[^/]*$/.test(dirname(socket)))
  return found === undefined ? undefined : dirname(found.socket)
}

const digest = (...words: string[]): string =>
  createHash('sha256').update(JSON.stringify(words)).digest('hex')

/** The socket of an agent of ours: always the same, because a session knows others by the paths of their sockets. */
export const socketName = (space: string, name: string): string => `${digest(space, name).slice(0, 16)}.sock`

/** A number for the record that no process has. */
const numberOf = (space: string, name: string): number =>
  1_000_000_000 + Number.parseInt(digest(space, name).slice(16, 23), 16)

export interface OwnRecord {
  space: string
  /** The agent, and what it is called there. */
  agent: string
  name: string
  socket: string
  cwd: string
}

export const ownPath = ({ space, agent }: Pick<OwnRecord, 'space' | 'agent'>): string =>
  join(sessionsDir, `${numberOf(space, agent)}.json`)

export function writeOwn(folder: Folder, own: OwnRecord): void {
  const { space, agent, name, socket, cwd } = own
  const hex = digest(space, agent, 'session')
  const at = folder.now()
  const record = {
    pid: numberOf(space, agent),
    sessionId: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
    ...{ cwd, startedAt: at, version: '2.1.325', peerProtocol: 1, peerFeatures: [] },
    ...{ kind: 'interactive', entrypoint: ourEntry, pidDomain: ourEntry, messagingSocketPath: socket },
    ...{ name, nameSource: 'user', nameSince: at, status: 'idle', updatedAt: at, statusUpdatedAt: at },
    mailboxSpace: space,
  }
  const path = ownPath(own)
  folder.replace(path, JSON.stringify(record), { temporary: `${path}.tmp` })
}

/** The token for the socket of a session. */
export function tokenOf(folder: Folder, { pid, socket }: SessionRecord): string | undefined {
  const hash = createHash('sha256').update(socket).digest('hex')
  const path = join(sessionsDir, `${pid}.${hash}.key`)
  if (!folder.has(path)) return undefined
  const key = recordIn(folder, path)
  return typeof key?.['peerToken'] === 'string' ? key['peerToken'] : undefined
}
