import { join } from 'node:path'
import { given, isObject } from '../../base/objects.ts'
import type { Message } from '../../model/message.ts'
import type { Folder } from '../folder.ts'
import type { CopyFact, CopyState, Fact, Format, Outgoing } from '../format.ts'
import { hasLine } from '../found-lines.ts'
import { isOld, type Line, newLines, objectIn } from '../jsonl.ts'
import { isName, nameThere, senderName, timeOf } from '../letters.ts'
import { readNote } from '../memory.ts'
import { linesAfter } from '../plain-lines.ts'
import { pythonLine } from '../python-json.ts'
import {
  countIn,
  countOneMore,
  countPath,
  finishCounting,
  inboxIn,
  lastCheckIn,
  setCount,
  setCountAgain,
  settleCount,
} from './jean-claude-count.ts'

/*
 * The mailboxes of workflows, which hooks of an agent SDK read: two files of lines and a count for each.
 *
 *   WORKFLOW/mailbox/inbox.jsonl, outbox.jsonl      appended to, never changed
 *   WORKFLOW/mailbox/inbox_count.json               {"unread": N, "last_checked": "..."}: jean-claude-count.ts
 *
 * The last N lines of an inbox are unread; that is the only state there is.
 */

const name = 'jean-claude'
const mailboxOf = (workflow: string): string => join(workflow, 'mailbox')
const outboxOf = (workflow: string): string => join(mailboxOf(workflow), 'outbox.jsonl')

function* read(folder: Folder): Generator<Fact> {
  for (const workflow of folder.directories('')) {
    if (!folder.has(mailboxOf(workflow)) || !folder.isDue(mailboxOf(workflow))) continue
    if (!isName(workflow)) {
      folder.problem(workflow, 'is no name that an agent can have here')
      continue
    }
    yield { kind: 'agent', name: senderName(name, workflow) }
    yield* readLines(folder, inboxIn(mailboxOf(workflow)), workflow)
    yield* readLines(folder, outboxOf(workflow), undefined)
    yield* readCount(folder, workflow)
  }
}

function* readLines(folder: Folder, path: string, workflow: string | undefined): Generator<Fact> {
  for (const line of newLines(folder, path)) {
    const fact = toFact(folder, path, line, workflow)
    if (fact !== undefined) yield fact
  }
}

function toFact(
  folder: Folder,
  path: string,
  line: Line,
  workflow: string | undefined,
): CopyFact | undefined {
  const message = objectIn(folder, path, line)
  if (message === undefined) return undefined
  const { id, from, to } = message
  const problem = (reason: string) => void folder.problem(path, reason, line.line, line.mark)
  if (typeof id !== 'string' || id === '') return problem('has no `id`')
  if (!isName(from)) return problem('has no sender in `from` that can be named here')
  const named = workflow ?? to
  if (!isName(named)) return problem('has no recipient in `to` that can be named here')
  const owner = workflow !== undefined || folder.has(mailboxOf(named)) ? named : folder.addressOf(named)
  const text = (field: string) => (typeof message[field] === 'string' ? message[field] : undefined)
  const at = timeOf(message['created_at'])
  return {
    kind: 'copy',
    ...{ id, owner, place: path, line: line.line, state: undefined, isPast: isOld(folder, line, at) },
    letter: {
      from: senderName(name, from),
      subject: text('subject') ?? '',
      body: text('body') ?? '',
      ...given({ type: text('type'), priority: priorityHere(message['priority']), at }),
      awaitingResponse: message['awaiting_response'] === true,
      expiresAt: null,
    },
    raw: line.text,
    mark: line.mark,
  }
}

const priorityHere = (priority: unknown): Message['priority'] | undefined =>
  priority === 'urgent' || priority === 'normal' || priority === 'low' ? priority : undefined

/**
 * All lines but the last N have been read, if somebody has checked the inbox since they were written. What one of ours
 * has read is known here.
 */
function* readCount(folder: Folder, workflow: string): Generator<Fact> {
  const path = countPath(mailboxOf(workflow))
  const file = folder.changed(path)
  if (file === undefined) return
  const found = countIn(folder, path)
  if (found === undefined) {
    if (folder.isSettled(path))
      folder.problem(path, 'is not a count of unread messages', undefined, file.mark)
    return
  }
  const checkedAt = lastCheckIn(found)
  if (checkedAt !== undefined && !folder.isHere(workflow))
    yield* readLinesRead(folder, workflow, found.unread, checkedAt)
  yield { kind: 'mark', mark: file.mark }
}

/** Those that were not known as read before: reading all of a long inbox after each check would take ever longer. */
function* readLinesRead(
  folder: Folder,
  workflow: string,
  unread: number,
  checkedAt: string,
): Generator<Fact> {
  const inbox = inboxIn(mailboxOf(workflow))
  const path = `${inbox} read`
  const { ino = 0, size = 0 } = folder.stat(inbox) ?? {}
  const [known, offset = 0] = (folder.memory.mark(path) ?? '').split(' ').map(Number)
  const from = known === ino && offset <= size ? offset : 0
  let left = -unread
  for (const _ of linesAfter(folder, inbox, from)) left++
  for (const { text, end } of linesAfter(folder, inbox, from)) {
    const { id, created_at: at } = objectOf(text)
    if (left-- <= 0 || (timeOf(at) ?? '') > checkedAt) return
    const mark = { path, stamp: `${ino} ${end}` }
    const owner = senderName(name, workflow)
    if (typeof id === 'string') yield { kind: 'state', id, owner, state: 'read', at: checkedAt, mark }
  }
}

function objectOf(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function render(_: Folder, { id, owner, letter, raw }: Outgoing): string {
  if (raw !== undefined) return raw
  const { from, type = 'text', subject = '', body = '', priority = 'normal', at } = letter
  return pythonLine({
    ...{ id, from: nameThere(name, from), to: nameThere(name, owner), type, subject, body },
    priority: priority === 'high' ? 'normal' : priority,
    created_at: at,
    awaiting_response: letter.awaitingResponse ?? false,
  })
}

function write(folder: Folder, outgoing: Outgoing): string {
  const { id, mayBeThere } = outgoing
  const box = mailboxOf(nameThere(name, outgoing.owner))
  const inbox = inboxIn(box)
  if (mayBeThere && hasLine(folder, inbox, ['id'], [id])) {
    // Whoever wrote it may have been killed before it was counted.
    finishCounting(folder, box, id)
    return inbox
  }
  folder.ensureDirectory(box)
  countOneMore(folder, box, id, () => folder.append(inbox, render(folder, outgoing)))
  return inbox
}

/** What an agent here has read of its mail there is told by the count. */
function summarize(folder: Folder, owner: string, unread: number, at: string): void {
  const box = mailboxOf(nameThere(name, owner))
  if (folder.has(box)) setCount(folder, box, unread, at)
}

/** The counts of agents here, which others write as well, are put right when nobody has written for a while. */
function tend(folder: Folder): void {
  for (const workflow of folder.directories('')) {
    const box = mailboxOf(workflow)
    if (!folder.isDue(box) || !folder.isHere(workflow)) continue
    const owner = senderName(name, workflow)
    const { memory } = folder
    const readAt = memory.note(readNote(owner))
    if (readAt !== undefined) {
      setCountAgain(folder, box, memory.unreadOf(owner), readAt)
      memory.forgetNote(readNote(owner))
    }
    settleCount(folder, box, memory.unreadOf(owner))
  }
}

export const jeanClaude: Format = {
  name,
  about: 'the mailboxes of workflows, which hooks of an agent SDK read',
  usualPaths: (_, cwd) => [join(cwd, 'agents')],
  fits: (folder) => folder.directories('').some((workflow) => folder.has(mailboxOf(workflow))),
  watched: (folder) => [
    '',
    ...folder
      .directories('')
      .flatMap((workflow) => [workflow, mailboxOf(workflow)])
      .filter((dir) => folder.stat(dir)?.isDirectory() === true),
  ],
  read,
  reaches: () => true,
  idFor: (id) => id,
  render,
  write,
  setState: (_, __, state) => state,
  summarize,
  tend,
  project: (state): CopyState => (state === 'unread' || state === 'expired' ? 'unread' : 'read'),
  cannotHold: [
    ...(['requiresAck', 'tags', 'attachments', 'swarm', 'payload', 'context', 'expiresAt'] as const),
    ...(['replyTo', 'thread'] as const),
  ],
}
