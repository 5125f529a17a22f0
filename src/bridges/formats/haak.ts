import { join } from 'node:path'
import { given } from '../../base/objects.ts'
import { person } from '../../model/agent.ts'
import { monthOf } from '../../model/time.ts'
import type { Folder } from '../folder.ts'
import type { CopyFact, CopyState, Fact, Format, Link, Outgoing } from '../format.ts'
import { hasLine } from '../found-lines.ts'
import { isOld, type Line, newLines, objectIn } from '../jsonl.ts'
import { isName, nameThere, senderName, stringsIn, timeOf } from '../letters.ts'
import { pythonLine } from '../python-json.ts'
import { readRoster, sessionsIn, writeRoster } from './haak-roster.ts'

/*
 * A protocol of directed mail: one file of messages for all, one of reads, and a roster.
 *
 *   agent-mailbox.jsonl                         appended to, never changed
 *   agent-mailbox-reads.jsonl                   who has read what
 *   agent-mailbox-archive/2026-03.jsonl         messages that were moved there
 *   agent-roster.json or agent-roster.jsonl     sessions with their roles and tags
 *
 * A message goes to a session, to a role, to a tag such as project:x, or to all.
 */

const name = 'haak'
const mailbox = 'agent-mailbox.jsonl'
const reads = 'agent-mailbox-reads.jsonl'
const archive = 'agent-mailbox-archive'
const hourMs = 3_600_000
/** The last moment that a date can be. */
const lastMs = 8.64e15

function* read(folder: Folder): Generator<Fact> {
  if (folder.isDue('')) yield* readRoster(folder, name)
  if (folder.isDue(archive))
    for (const path of folder.files(archive, '.jsonl')) yield* readMessages(folder, path, true)
  if (!folder.isDue('')) return
  yield* readMessages(folder, mailbox, false)
  for (const line of newLines(folder, reads)) yield* readRead(folder, line)
}

function* readMessages(folder: Folder, path: string, isArchive: boolean): Generator<Fact> {
  // Whoever has written is a session, in the roster or not.
  const people = new Set(sessionsIn(folder))
  for (const line of newLines(folder, path)) {
    const fact = toFact(folder, path, line, people, isArchive)
    if (fact === undefined) continue
    people.add(fact.letter.from)
    yield fact
    for (const reader of readersIn(line.text))
      yield { kind: 'state', id: fact.id, owner: reader, state: 'read' }
  }
}

function toFact(
  folder: Folder,
  path: string,
  line: Line,
  people: ReadonlySet<string>,
  isArchive: boolean,
): CopyFact | undefined {
  const message = objectIn(folder, path, line)
  if (message === undefined) return undefined
  const problem = (reason: string) => void folder.problem(path, reason, line.line, line.mark)
  const { id, subject, thread, ttl_hours: hours } = message
  // The amendment of the protocol calls them by other names.
  const from = message['sender'] ?? message['from']
  const to = message['recipient'] ?? message['to']
  const body = message['content'] ?? message['body']
  if (typeof id !== 'string' || id === '') return problem('has no `id`')
  if (!isName(from)) return problem('has no `sender` that can be named here')
  const owner = typeof to === 'string' ? addressHere(folder, to, people) : undefined
  if (owner === undefined) return problem('has no `recipient` that can be written to here')
  const at = timeOf(message['timestamp'])
  const life =
    typeof hours === 'number' && hours > 0 && at !== undefined ? Date.parse(at) + hours * hourMs : undefined
  return {
    kind: 'copy',
    ...{ id, owner, place: path, line: line.line, state: undefined },
    isPast: isArchive || isOld(folder, line, at),
    letter: {
      from: senderName(name, from),
      body: typeof body === 'string' ? body : '',
      ...given({
        at,
        subject: typeof subject === 'string' ? subject : undefined,
        replyTo: typeof thread === 'string' ? thread : undefined,
      }),
      // A life that ends after the last possible date never ends.
      ...(life === undefined ? {} : { expiresAt: life > lastMs ? null : new Date(life).toISOString() }),
    },
    raw: line.text,
    mark: line.mark,
  }
}

/** A session, a role, a tag or all. A name that is no session is a role: its mail waits for whoever takes it. */
function addressHere(folder: Folder, to: string, people: ReadonlySet<string>): string | undefined {
  if (to === 'all' || to === '*') return 'all'
  if (to.includes(':')) return /^[a-z][a-z0-9_-]*:[^:]+$/.test(to) ? to : undefined
  if (!isName(to)) return undefined
  const isSession =
    to === person || people.has(to) || folder.isHere(to) || folder.memory.agents().includes(to)
  return isSession ? to : `role:${to}`
}

function addressThere(owner: string): string {
  return owner.startsWith('role:') ? owner.slice('role:'.length) : nameThere(name, owner)
}

/** Readers that are listed with the message itself. */
function readersIn(text: string): string[] {
  if (!/"read_by"\s*:\s*\[\s*"/.test(text)) return []
  return stringsIn((JSON.parse(text) as Record<string, unknown>)['read_by']).filter((reader) =>
    isName(reader),
  )
}

function* readRead(folder: Folder, line: Line): Generator<Fact> {
  const read = objectIn(folder, reads, line)
  if (read === undefined) return
  const id = read['message_id'] ?? read['messageid']
  const reader = read['reader_session_id'] ?? read['readersession_id']
  if (typeof id !== 'string' || !isName(reader)) {
    folder.problem(reads, 'names no message and reader', line.line, line.mark)
    return
  }
  const at = timeOf(read['timestamp'])
  yield { kind: 'state', id, owner: senderName(name, reader), state: 'read', at, mark: line.mark }
}

function render(_: Folder, { id, owner, letter, raw }: Outgoing): string {
  if (raw !== undefined) return raw
  const { from, subject = '', body = '', at, replyTo, expiresAt } = letter
  const hours = expiresAt ? Math.max(1, Math.ceil((Date.parse(expiresAt) - Date.parse(at)) / hourMs)) : null
  return pythonLine({
    id,
    sender: nameThere(name, from),
    recipient: addressThere(owner),
    timestamp: at,
    content: [subject, body].filter(Boolean).join('\n\n'),
    thread: replyTo ?? null,
    ttl_hours: hours,
    read_by: [],
  })
}

function write(folder: Folder, outgoing: Outgoing): string {
  const { id, mayBeThere, letter } = outgoing
  const places = [mailbox, join(archive, `${monthOf(letter.at)}.jsonl`)]
  const found = mayBeThere ? places.find((path) => hasLine(folder, path, ['id'], [id])) : undefined
  if (found !== undefined) return found
  folder.append(mailbox, render(folder, outgoing))
  return mailbox
}

function setState(folder: Folder, { foreign, owner }: Link, state: CopyState, at: string): CopyState {
  const reader = nameThere(name, owner)
  const isThere = () => hasLine(folder, reads, ['message_id', 'reader_session_id'], [foreign, reader])
  if (state === 'read' && !isThere())
    folder.append(reads, pythonLine({ message_id: foreign, reader_session_id: reader, timestamp: at }))
  return state
}

export const haak: Format = {
  name,
  about: 'a protocol of directed mail in one file',
  usualPaths: (_, cwd) => [join(cwd, 'data')],
  fits: (folder) => folder.has(mailbox),
  watched: (folder) => ['', archive].filter((dir) => dir === '' || folder.has(dir)),
  read,
  reaches: () => true,
  hasGroups: true,
  idFor: (id) => id,
  render,
  write,
  setState,
  project: (state): CopyState =>
    state === 'unread' || state === 'expired' || state === 'withdrawn' ? 'unread' : 'read',
  writeRoster,
  cannotHold: [
    ...(['subject', 'type', 'priority', 'requiresAck', 'awaitingResponse', 'tags', 'attachments'] as const),
    ...(['swarm', 'payload', 'context', 'thread', 'expiresAt'] as const),
  ],
}
