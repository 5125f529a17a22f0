import { basename, dirname, join } from 'node:path'
import { given, isObject } from '../../base/objects.ts'
import { toPriority } from '../../model/message.ts'
import type { Folder, ReadFile } from '../folder.ts'
import type { CopyState, Fact, Format, Link, Outgoing } from '../format.ts'
import { setMembers } from '../json-text.ts'
import { idOfKey, isName, nameThere, senderName, timeOf } from '../letters.ts'
import { fromBag, toBag } from '../payload-text.ts'

/*
 * The file mailbox of an agent orchestrator: a directory for each session, a file for each message.
 *
 *   SESSION/inbox/20260216T204500.000Z-ID-TYPE.json   and, once acknowledged, SESSION/inbox/processed/
 *   SESSION/outbox/                                   what the session has sent
 *
 * Files appear by rename and are never changed but to acknowledge them, so there is no lock.
 */

const name = 'ao'
const inboxOf = (session: string) => join(session, 'inbox')
const processedOf = (session: string) => join(session, 'inbox', 'processed')
const outboxOf = (session: string) => join(session, 'outbox')

/** Only their owner may read them. */
const directoryMode = 0o700
const fileMode = 0o600

function* read(folder: Folder): Generator<Fact> {
  for (const session of folder.directories('')) {
    const isOne = folder.has(inboxOf(session)) || folder.has(outboxOf(session))
    if (!isOne) continue
    if (!isName(session)) {
      folder.problem(session, 'is no name that an agent can have here')
      continue
    }
    if (folder.isDue('')) yield { kind: 'agent', name: senderName(name, session) }
    yield* readDirectory(folder, processedOf(session), session, 'acked')
    yield* readDirectory(folder, inboxOf(session), session, 'unread')
    yield* readDirectory(folder, outboxOf(session), undefined, undefined)
  }
}

function* readDirectory(
  folder: Folder,
  dir: string,
  session: string | undefined,
  state: CopyState | undefined,
): Generator<Fact> {
  if (!folder.isDue(dir)) return
  for (const path of folder.files(dir, '.json')) {
    const file = folder.changed(path)
    if (file === undefined) continue
    const fact = toFact(folder, path, file, session, state)
    if (fact !== undefined) yield fact
  }
}

function toFact(
  folder: Folder,
  path: string,
  file: ReadFile,
  session: string | undefined,
  state: CopyState | undefined,
): Fact | undefined {
  let value: unknown
  try {
    value = JSON.parse(file.text)
  } catch {
    if (folder.isSettled(path)) folder.problem(path, 'is not JSON', undefined, file.mark)
    return undefined
  }
  const flaw = flawOf(value, session)
  if (flaw !== undefined) {
    folder.problem(path, flaw, undefined, file.mark)
    return undefined
  }
  const message = value as Record<string, unknown>
  const { from, to, timestamp, type, priority, payload, requiresAck, replyTo, ackedAt } = message
  const named = session ?? (to as string)
  const owner = session !== undefined || folder.has(inboxOf(named)) ? named : folder.addressOf(named)
  // What the bridge itself has told a sender.
  if (type === 'ack' && message['id'] === ackId(replyTo, from)) return { kind: 'mark', mark: file.mark }
  return {
    kind: 'copy',
    id: typeof message['id'] === 'string' && message['id'] !== '' ? message['id'] : basename(path),
    owner,
    place: path,
    order: [typeof timestamp === 'string' ? timestamp : '', folder.stat(path)?.mtimeMs ?? 0],
    state,
    isPast: state === 'acked',
    stateAt: timeOf(ackedAt),
    letter: {
      from: senderName(name, from as string),
      ...(isObject(payload) ? fromBag(payload) : given({ payload })),
      ...given({
        type: typeof type === 'string' ? type : undefined,
        priority: toPriority(priority),
        at: timeOf(timestamp),
        replyTo: typeof replyTo === 'string' ? replyTo : undefined,
      }),
      requiresAck: requiresAck === true,
      expiresAt: null,
    },
    raw: file.text,
    mark: file.mark,
  }
}

function flawOf(value: unknown, session: string | undefined): string | undefined {
  if (!isObject(value)) return 'is not a JSON object'
  if (!isName(value['from']) && value['from'] !== 'all')
    return 'has no sender in `from` that can be named here'
  if (session === undefined && !isName(value['to'])) return 'has no recipient in `to` that can be named here'
  return undefined
}

function render(_: Folder, { id, owner, letter, raw }: Outgoing): string {
  if (raw !== undefined) return raw
  const { from, at, type = 'text', priority = 'normal', requiresAck = false, replyTo } = letter
  const message = {
    id,
    from: nameThere(name, from),
    to: nameThere(name, owner),
    timestamp: at,
    type,
    priority,
    payload: toBag(letter),
    requiresAck,
    ...given({ replyTo }),
  }
  return JSON.stringify(message, null, 2)
}

function write(folder: Folder, outgoing: Outgoing): string {
  const { id, owner, letter } = outgoing
  const session = nameThere(name, owner)
  const dir = inboxOf(session)
  const file = `${letter.at.replaceAll(':', '')}-${id}-${(letter.type ?? 'text').replaceAll(/[^\w.-]/g, '_')}.json`
  for (const place of [join(processedOf(session), file), join(dir, file)]) if (folder.has(place)) return place
  folder.ensureDirectory(dir, directoryMode)
  folder.replace(join(dir, file), render(folder, outgoing), {
    temporary: join(dir, `${file}.tmp.${id}`),
    mode: fileMode,
  })
  return join(dir, file)
}

function setState(folder: Folder, { place, owner }: Link, state: CopyState, at: string): CopyState {
  const session = nameThere(name, owner)
  const dir = inboxOf(session)
  const file = basename(place)
  if (basename(dirname(place)) === 'outbox') {
    // It is nowhere else: only its sender can be told.
    if (state === 'acked') tellSender(folder, folder.read(place)?.text, session, at)
    return state
  }
  const done = join(processedOf(session), file)
  if (folder.has(done)) return 'acked'
  const found = folder.read(join(dir, file))
  // Somebody has taken it away.
  if (found === undefined || state === 'unread') return state
  if (state === 'acked') {
    folder.replace(join(dir, file), setMembers(found.text, { ackedAt: at }), {
      ...{ temporary: join(dir, `${file}.tmp.ack`), mode: fileMode, since: found.mark },
    })
    tellSender(folder, found.text, session, at)
  }
  folder.ensureDirectory(processedOf(session), directoryMode)
  folder.move(join(dir, file), done)
  return 'acked'
}

/** Whoever wants an ack waits for a message of that type. It has the same name each time, so that it is sent once. */
function tellSender(folder: Folder, text: string | undefined, session: string, at: string): void {
  const { id, from, requiresAck } = JSON.parse(text ?? '{}') as Record<string, unknown>
  if (requiresAck !== true || !isName(from) || from === session || !folder.has(inboxOf(from))) return
  const ack = {
    ...{ id: ackId(id, session), from: session, to: from, timestamp: at, type: 'ack', priority: 'normal' },
    ...{ payload: {}, requiresAck: false, replyTo: id },
  }
  const file = `${at.replaceAll(':', '')}-${ack.id}-ack.json`
  const place = join(inboxOf(from), file)
  if (folder.has(place) || folder.has(join(processedOf(from), file))) return
  folder.replace(place, JSON.stringify(ack, null, 2), {
    temporary: join(inboxOf(from), `${file}.tmp.ack`),
    mode: fileMode,
  })
}

const ackId = (id: unknown, by: unknown): string => idOfKey(JSON.stringify(['ack', id, by]), 0)

/** A message lies in the inbox until it is acknowledged; that is all there is. */
function project(state: CopyState): CopyState {
  if (state === 'unread' || state === 'read' || state === 'expired') return 'unread'
  return state === 'withdrawn' ? 'withdrawn' : 'acked'
}

export const ao: Format = {
  name,
  about: 'the file mailboxes of an agent orchestrator',
  usualPaths: ({ HOME = '' }) => [join(HOME, '.ao-sessions')],
  fits: (folder) => folder.directories('').some((session) => folder.has(inboxOf(session))),
  watched: (folder) => [
    '',
    ...folder
      .directories('')
      .flatMap((session) => [session, inboxOf(session), processedOf(session), outboxOf(session)])
      .filter((dir) => folder.stat(dir)?.isDirectory() === true),
  ],
  read,
  sorts: true,
  reaches: (folder, owner) => folder.stat(nameThere(name, owner))?.isDirectory() === true || isName(owner),
  idFor: (id) => id,
  render,
  write,
  setState,
  project,
  cannotHold: ['thread', 'swarm', 'awaitingResponse', 'expiresAt'],
}
