import { basename, dirname, join } from 'node:path'
import { given, isObject } from '../../base/objects.ts'
import { toPriority } from '../../model/message.ts'
import { localTime } from '../clock-text.ts'
import type { Folder, ReadFile } from '../folder.ts'
import type { CopyFact, CopyState, Fact, Format, Link, Outgoing } from '../format.ts'
import { setMembers } from '../json-text.ts'
import { isName, nameThere, senderName, shortId, stringsIn, timeOf } from '../letters.ts'
import { pythonJson } from '../python-json.ts'
import { readSwarms, watchedSwarms, writeSwarms } from './adr003-swarms.ts'

/*
 * The mailbox manager of an agent swarm: a directory for each agent, a file for each message.
 *
 *   mailboxes/AGENT/inbox/MSG-0123456789ab.json, written as .json.tmp and renamed
 *   mailboxes/AGENT/archive/MSG-0123456789ab.json
 *   swarms/SWARM/agents/NAME.md: who is in a swarm; beside the folder or in it
 *
 * Slashes in names are underscores in paths. Times are local, without a zone. There is no lock between processes.
 */

const name = 'adr003'
const boxes = 'mailboxes'
const escaped = (agent: string): string => agent.replaceAll(/[/\\]/g, '_')
const inboxOf = (agent: string): string => join(boxes, escaped(agent), 'inbox')
const archiveOf = (agent: string): string => join(boxes, escaped(agent), 'archive')

const types = ['request', 'response', 'notification', 'handoff', 'escalation']
const statuses = ['unread', 'read', 'processing', 'completed', 'archived', 'failed']

function* read(folder: Folder): Generator<Fact> {
  for (const { swarm, member } of readSwarms(folder)) {
    const whole = `${swarm}/${member}`
    // One that has a mailbox under both names goes by the longer one.
    const isWhole = folder.has(join(boxes, escaped(whole)))
    yield { kind: 'agent', name: senderName(name, isWhole ? whole : member), tags: [`swarm:${swarm}`] }
  }
  for (const dir of folder.directories(boxes)) {
    const box = join(boxes, dir)
    const archive = join(box, 'archive')
    const inbox = join(box, 'inbox')
    let isNamed = false
    for (const fact of [...readDirectory(folder, archive, true), ...readDirectory(folder, inbox, false)]) {
      // Whoever archived it was killed before it could remove the other.
      const isLeft = !fact.isPast && folder.has(join(archive, basename(fact.place)))
      isNamed ||= escaped(fact.owner) === dir
      yield isLeft ? { kind: 'leftover', place: fact.place } : fact
    }
    // A directory has the name of its agent with its slashes lost; the messages in it tell which it is.
    if (folder.isDue(boxes) && !isNamed && isName(dir) && !isEscaped(folder, dir))
      yield { kind: 'agent', name: senderName(name, dir) }
  }
}

/** Whether a directory belongs to an agent that is known by its whole name. */
const isEscaped = (folder: Folder, dir: string): boolean =>
  folder.memory.agents().some((agent) => agent !== dir && escaped(nameThere(name, agent)) === dir)

function* readDirectory(folder: Folder, dir: string, isArchive: boolean): Generator<CopyFact> {
  if (!folder.isDue(dir)) return
  for (const path of folder.files(dir, '.json')) {
    if (!basename(path).startsWith('MSG-')) continue
    const file = folder.changed(path)
    const fact = file === undefined ? undefined : toFact(folder, path, file, isArchive)
    if (fact !== undefined) yield fact
  }
}

function toFact(folder: Folder, path: string, file: ReadFile, isArchive: boolean): CopyFact | undefined {
  let value: unknown
  try {
    value = JSON.parse(file.text)
  } catch {
    if (folder.isSettled(path)) folder.problem(path, 'is not JSON', undefined, file.mark)
    return undefined
  }
  const flaw = flawOf(value)
  if (flaw !== undefined) {
    folder.problem(path, flaw, undefined, file.mark)
    return undefined
  }
  const message = value as Record<string, unknown>
  const text = (field: string) => (typeof message[field] === 'string' ? message[field] : undefined)
  const { payload, context } = message
  const state = isArchive ? (text('completed_at') ? 'filed' : 'archived') : stateThere(text('status'))
  return {
    kind: 'copy',
    id: text('id') ?? basename(path, '.json'),
    owner: ownerOf(text('to_agent')!),
    place: path,
    order: [text('created_at') ?? '', folder.stat(path)?.mtimeMs ?? 0],
    state,
    isPast: isArchive,
    stateAt: timeOf(state === 'read' ? message['read_at'] : message['completed_at']),
    letter: {
      from: senderName(name, text('from_agent')!),
      subject: text('subject') ?? '',
      body: text('body') ?? '',
      ...given({
        type: text('type'),
        swarm: text('swarm_name'),
        priority: toPriority(message['priority']),
        at: timeOf(message['created_at']),
        replyTo: text('reply_to'),
        thread: text('thread_id'),
        payload: payloadHere(payload),
        context: isObject(context) && Object.keys(context).length > 0 ? context : undefined,
      }),
      expiresAt: timeOf(message['expires_at']) ?? null,
      attachments: stringsIn(message['attachments']),
      tags: stringsIn(message['tags']),
      awaitingResponse: text('type') === 'request',
    },
    raw: file.text,
    mark: file.mark,
  }
}

/** A broadcast is a copy for each agent; one that is addressed as a whole is for the swarm. */
const ownerOf = (to: string): string =>
  to.startsWith('broadcast:') || isName(to) ? to : senderName(name, to)

function flawOf(value: unknown): string | undefined {
  if (!isObject(value)) return 'is not a JSON object'
  if (!isName(value['from_agent']) && value['from_agent'] !== 'all')
    return 'has no sender in `from_agent` that can be named here'
  const to = value['to_agent']
  if (!isName(to) && !(typeof to === 'string' && /^broadcast:[^:]+$/.test(to)))
    return 'has no recipient in `to_agent` that can be named here'
  return undefined
}

function stateThere(status: string | undefined): CopyState {
  if (status === 'completed') return 'done'
  return status !== undefined && statuses.includes(status) ? (status as CopyState) : 'unread'
}

function render(_: Folder, { id, owner, isGroup, letter, raw }: Outgoing, microseconds = 0): string {
  if (raw !== undefined) return raw
  const { from, subject = '', body = '', type, swarm, payload, context = {}, replyTo, thread } = letter
  const { attachments = [], tags = [], at, expiresAt } = letter
  const priority = ['low', 'normal', 'high', 'urgent'].indexOf(letter.priority ?? 'normal') + 1
  return pythonJson({
    id,
    from_agent: nameThere(name, from),
    to_agent: nameThere(name, owner),
    swarm_name: swarm ?? null,
    type: typeThere(type, replyTo !== undefined, letter.awaitingResponse === true),
    subject,
    body,
    payload: payloadThere(payload),
    priority,
    created_at: localTime(at, microseconds),
    expires_at: expiresAt ? localTime(expiresAt) : null,
    status: 'unread',
    read_at: null,
    completed_at: null,
    reply_to: replyTo ?? null,
    thread_id: thread ?? null,
    context,
    attachments,
    tags: isGroup && !tags.includes('broadcast') ? [...tags, 'broadcast'] : tags,
  })
}

/** A payload is an object there. What is none is put into one, and taken out again. */
const payloadThere = (payload: unknown): object =>
  payload === undefined ? {} : isObject(payload) && !isWrapped(payload) ? payload : { payload }

function payloadHere(payload: unknown): unknown {
  if (!isObject(payload)) return payload ?? undefined
  if (Object.keys(payload).length === 0) return undefined
  const inner = payload['payload']
  return isWrapped(payload) && (!isObject(inner) || isWrapped(inner)) ? inner : payload
}

const isWrapped = (payload: Record<string, unknown>): boolean => Object.keys(payload).join() === 'payload'

/** There are five types; what is none of them asks for an answer, gives one, or does neither. */
function typeThere(type: string | undefined, isReply: boolean, isAwaiting: boolean): string {
  if (type !== undefined && types.includes(type)) return type
  return isAwaiting ? 'request' : isReply ? 'response' : 'notification'
}

/** Readers go by the time, which has microseconds there: what was sent here in one millisecond keeps its order. */
function nextInstant({ memory }: Folder, { owner, letter }: Outgoing): number {
  const note = `last ${owner}`
  const [at, last = '0'] = memory.note(note)?.split(' ') ?? []
  const next = at === letter.at ? Math.min(Number(last) + 1, 999) : 0
  memory.setNote(note, `${letter.at} ${next}`)
  return next
}

/** The manager of an agent writes MSG-*.json.tmp, perhaps at the same time. */
const temporaryOf = (place: string): string => `${place}.tmp.mailbox`

function write(folder: Folder, outgoing: Outgoing): string {
  const { id, owner } = outgoing
  const agent = nameThere(name, owner)
  const place = join(inboxOf(agent), `${id}.json`)
  for (const one of [join(archiveOf(agent), `${id}.json`), place]) if (folder.has(one)) return one
  folder.ensureDirectory(inboxOf(agent))
  const text = render(folder, outgoing, nextInstant(folder, outgoing))
  folder.replace(place, text, { temporary: temporaryOf(place) })
  return place
}

function setState(folder: Folder, { place, foreign }: Link, state: CopyState, at: string): CopyState {
  const box = dirname(dirname(place))
  const file = `${foreign}.json`
  const inbox = join(box, 'inbox', file)
  const archived = join(box, 'archive', file)
  if (folder.has(archived)) {
    // Whoever archived it was stopped before it removed the other.
    folder.remove(inbox)
    return stateIn(folder.read(archived)?.text, true) ?? state
  }
  const found = folder.read(inbox)
  const now = stateIn(found?.text, false)
  if (found === undefined || now === undefined) return state
  const time = localTime(at)
  const old = JSON.parse(found.text) as Record<string, unknown>
  const readAt = state === 'unread' ? {} : { read_at: old['read_at'] ?? time }
  if (state === 'archived' || state === 'filed' || state === 'withdrawn') {
    const completed = state === 'filed' ? { completed_at: old['completed_at'] ?? time } : {}
    const seen = state === 'withdrawn' ? {} : readAt
    folder.ensureDirectory(join(box, 'archive'))
    const text = setMembers(found.text, { status: 'archived', ...seen, ...completed })
    folder.replace(archived, text, { temporary: temporaryOf(archived) })
    folder.remove(inbox)
    return state
  }
  const completed = state === 'done' ? { completed_at: time } : {}
  const status = state === 'done' ? 'completed' : state
  folder.replace(inbox, setMembers(found.text, { status, ...readAt, ...completed }), {
    ...{ temporary: temporaryOf(inbox), since: found.mark },
  })
  return state
}

function stateIn(text: string | undefined, isArchive: boolean): CopyState | undefined {
  if (text === undefined) return undefined
  try {
    const { status, completed_at: completed } = JSON.parse(text) as Record<string, unknown>
    if (isArchive) return completed ? 'filed' : 'archived'
    return stateThere(typeof status === 'string' ? status : undefined)
  } catch {
    return undefined
  }
}

/** Reading and acknowledging are one, and what has expired is passed over by whoever reads. */
function project(state: CopyState): CopyState {
  if (state === 'acked') return 'read'
  if (state === 'expired') return 'unread'
  return state === 'withdrawn' ? 'archived' : state
}

export const adr003: Format = {
  name,
  about: 'the mailbox manager of an agent swarm (ADR-003)',
  usualPaths: (_, cwd) => [join(cwd, 'workspace'), cwd],
  fits: (folder) => folder.directories(boxes).some((dir) => folder.has(join(boxes, dir, 'inbox'))),
  watched(folder) {
    const dirs = folder.directories(boxes).flatMap((dir) => {
      const box = join(boxes, dir)
      return [box, join(box, 'inbox'), join(box, 'archive')]
    })
    return [
      '',
      ...[boxes, ...dirs].filter((dir) => folder.stat(dir)?.isDirectory() === true),
      ...watchedSwarms(folder),
    ]
  },
  read,
  sorts: true,
  reaches: () => true,
  idFor: (id, owner) => `MSG-${shortId(id, owner)}`,
  render,
  write,
  setState,
  project,
  writeRoster: writeSwarms,
  cannotHold: ['type', 'requiresAck', 'awaitingResponse'],
}
