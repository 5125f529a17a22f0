import { basename, dirname, join, sep } from 'node:path'
import { given } from '../../base/objects.ts'
import { forgetSent, LiveSessions, type Received, wasTakenBefore } from '../claude/live-sessions.ts'
import type { PeerNotice } from '../claude/peer-frames.ts'
import { isSessionOf } from '../claude/peers.ts'
import { type SessionRecord, sessionsDir, sessionsIn } from '../claude/session-files.ts'
import type { Folder } from '../folder.ts'
import type { CopyFact, Fact, Format, Outgoing } from '../format.ts'
import { LockHeld } from '../lock.ts'

/*
 * Messages between independent sessions of Claude Code (its tools ListAgents and SendMessage). Our agents are listed
 * there as sessions of their own, and sessions are agents here, called claude/NAME. A session that is an agent here
 * already, by its hooks, gets its mail from those and from nobody else.
 */

const name = 'claude-sessions'
const prefix = 'claude/'

const live = new WeakMap<Folder, LiveSessions>()

const sessionNote = (id: string): string => `session ${id}`

function* read(folder: Folder): Generator<Fact> {
  const sessions = sessionsIn(folder).filter((one) => !isHere(folder, one))
  for (const [id, agent] of folder.memory.notes(sessionNote('')))
    if (sessions.every(({ sessionId }) => sessionId !== id))
      yield { kind: 'agent', name: agent, isHere: false }
  for (const session of sessions)
    if (hookedName(folder, session) === undefined && (isNear(folder, session) || isMet(folder, session)))
      yield { kind: 'agent', name: nameOf(folder, session), tags: ['client:claude'] }
  const { received = [], notices = [] } = live.get(folder) ?? {}
  for (const one of received) yield copyOf(folder, one, sessions)
  for (const notice of notices.splice(0)) yield* settled(folder, notice)
}

/** A record that this space has written. */
const isHere = (folder: Folder, { space }: SessionRecord): boolean =>
  space !== undefined && space === folder.host?.id

const isMet = ({ memory }: Folder, { sessionId }: SessionRecord): boolean =>
  memory.note(sessionNote(sessionId)) !== undefined

/** A session of the project of this space. Others become agents here when they write to one of us. */
function isNear(folder: Folder, { cwd }: SessionRecord): boolean {
  const { dir = '' } = folder.host ?? {}
  const project = basename(dir) === '.mailbox' ? dirname(dir) : undefined
  return project === undefined || cwd === project || cwd.startsWith(project + sep)
}

const hookedName = (folder: Folder, session: SessionRecord): string | undefined =>
  [...(folder.host?.agents.values() ?? [])].find(
    (agent) => agent.state !== 'dead' && isSessionOf(agent, session),
  )?.name

/** What a session is called here: always the same, whatever its process and however it is renamed. */
function nameOf({ memory }: Folder, { sessionId, name: given }: SessionRecord): string {
  const known = memory.note(sessionNote(sessionId))
  if (known !== undefined) return known
  const word =
    given
      .normalize('NFC')
      .replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-')
      .slice(0, 60) || 'session'
  const taken = new Set(memory.notes(sessionNote('')).map(([, value]) => value))
  const plain = `${prefix}${word}`
  const own = taken.has(plain) ? `${plain}-${sessionId.slice(0, 6)}` : plain
  memory.setNote(sessionNote(sessionId), own)
  return own
}

function copyOf(folder: Folder, { owner, message }: Received, sessions: readonly SessionRecord[]): CopyFact {
  const { id, from, fromName, text } = message
  const session = sessions.find(({ socket }) => socket === from)
  const sender =
    session === undefined ? `${prefix}unknown` : (hookedName(folder, session) ?? nameOf(folder, session))
  return {
    ...{ kind: 'copy', id, owner, place: 'socket', state: undefined },
    letter: {
      from: sender,
      subject: '',
      body: text,
      expiresAt: null,
      at: new Date(folder.now()).toISOString(),
    },
    raw: JSON.stringify({ id, ...given({ from, fromName }), text }),
  }
}

/** What became of a message of ours. */
function* settled(folder: Folder, { status, detail, ids }: PeerNotice): Generator<Fact> {
  for (const id of ids) {
    const link = folder.memory.link(id, '')
    if (link === undefined) continue
    const fact = { kind: 'state', id, owner: link.owner } as const
    if (status === 'delivered') yield { ...fact, state: 'read' }
    const isOver = status === 'denied' || status === 'expired'
    if (isOver) yield { ...fact, state: 'failed', reason: reasons[detail ?? status] ?? reasons[status]! }
    if (status === 'dropped' && /^hop-/.test(detail ?? ''))
      yield { ...fact, state: 'failed', reason: 'the session took it for a message that goes in circles' }
    else if (status === 'dropped' && !(detail === 'duplicate' && wasTakenBefore(folder, id))) {
      folder.memory.setLink(link, false)
      forgetSent(folder, id)
      live.get(folder)?.drop(id)
    }
  }
}

const reasons: Record<string, string> = {
  denied: 'the user of the session has not let it through',
  refused: 'the session takes no messages from others',
  expired: 'the user of the session has not let it through in time',
}

function sessionOf(folder: Folder, owner: string): SessionRecord | undefined {
  const id = folder.memory.notes(sessionNote('')).find(([, value]) => value === owner)?.[0]
  return id === undefined ? undefined : sessionsIn(folder).find(({ sessionId }) => sessionId === id)
}

function write(folder: Folder, outgoing: Outgoing): string {
  const session = sessionOf(folder, outgoing.owner)
  const sockets = live.get(folder)
  // It waits until the session is back.
  if (session === undefined || sockets === undefined) throw new LockHeld(outgoing.owner)
  if (!outgoing.wasDelivered) sockets.post(session, outgoing)
  return session.socket
}

export const claudeSessions: Format = {
  name,
  about: 'messages between sessions of Claude Code',
  usualPaths: ({ HOME = '', CLAUDE_CONFIG_DIR }) => [CLAUDE_CONFIG_DIR || join(HOME, '.claude')],
  fits: (folder) => folder.has(sessionsDir),
  watched: (folder) => ['', sessionsDir].filter((dir) => dir === '' || folder.has(dir)),
  read,
  reaches: (folder, owner) =>
    owner.startsWith(prefix) && folder.memory.notes(sessionNote('')).some(([, value]) => value === owner),
  idFor: (id) => id,
  render: (_, { raw, id, letter }) => raw ?? JSON.stringify({ id, text: letter.body ?? '' }),
  write,
  setState: (_, __, state) => state,
  project: (state) => state,
  start: (folder, ring) => void live.set(folder, new LiveSessions(folder, ring)),
  tend(folder) {
    const sockets = live.get(folder)
    sockets?.settle(({ message, owner }) => folder.memory.linkOf(message.id, owner) !== undefined)
    sockets?.tend()
  },
  leave: (folder) => live.get(folder)?.close(),
  cannotHold: [
    'thread',
    'replyTo',
    'swarm',
    'awaitingResponse',
    'expiresAt',
    'priority',
    'tags',
    'attachments',
    'context',
  ],
}
