import { join } from 'node:path'
import { given, isObject } from '../../base/objects.ts'
import type { Message } from '../../model/message.ts'
import type { Folder } from '../folder.ts'
import type { CopyFact, CopyState, Fact, Format, Outgoing } from '../format.ts'
import { hasLine, isOld, type Line, newLines, objectIn } from '../jsonl.ts'
import { isName, nameThere, senderName, timeOf } from '../letters.ts'
import { pythonLine } from '../python-json.ts'

/*
 * The mailboxes of workflows, which hooks of an agent SDK read: two files of lines and a count for each.
 *
 *   WORKFLOW/mailbox/inbox.jsonl, outbox.jsonl      appended to, never changed
 *   WORKFLOW/mailbox/inbox_count.json               {"unread": N, "last_checked": "..."}
 *
 * The last N lines of an inbox are unread; that is the only state there is.
 */

const name = 'jean-claude'
const mailboxOf = (workflow: string): string => join(workflow, 'mailbox')
const inboxOf = (workflow: string): string => join(mailboxOf(workflow), 'inbox.jsonl')
const outboxOf = (workflow: string): string => join(mailboxOf(workflow), 'outbox.jsonl')
const countOf = (workflow: string): string => join(mailboxOf(workflow), 'inbox_count.json')

function* read(folder: Folder): Generator<Fact> {
  for (const workflow of folder.directories('')) {
    if (!folder.has(mailboxOf(workflow)) || !folder.isDue(mailboxOf(workflow))) continue
    if (!isName(workflow)) {
      folder.problem(workflow, 'is no name that an agent can have here')
      continue
    }
    yield { kind: 'agent', name: senderName(name, workflow) }
    yield* readLines(folder, inboxOf(workflow), workflow)
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
  const owner = workflow ?? to
  if (!isName(owner)) return problem('has no recipient in `to` that can be named here')
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

interface Count {
  unread: number
  last_checked: unknown
}

function countIn(folder: Folder, workflow: string): Count | undefined {
  const file = folder.read(countOf(workflow))
  if (file === undefined) return undefined
  try {
    const value: unknown = JSON.parse(file.text)
    const isCount =
      isObject(value) && Number.isSafeInteger(value['unread']) && (value['unread'] as number) >= 0
    return isCount ? (value as unknown as Count) : undefined
  } catch {
    return undefined
  }
}

/**
 * All lines but the last N have been read, if somebody has checked the inbox since they were written. What one of ours
 * has read is known here.
 */
function* readCount(folder: Folder, workflow: string): Generator<Fact> {
  const path = countOf(workflow)
  const file = folder.changed(path)
  if (file === undefined) return
  const found = countIn(folder, workflow)
  if (found === undefined) {
    if (folder.isSettled(path))
      folder.problem(path, 'is not a count of unread messages', undefined, file.mark)
    return
  }
  const { unread, last_checked: last } = found
  const checkedAt = timeOf(last)
  if (checkedAt !== undefined && !folder.isHere(workflow)) {
    const lines = (folder.read(inboxOf(workflow))?.text ?? '')
      .split('\n')
      .filter((line) => line.trim() !== '')
    for (const line of lines.slice(0, Math.max(0, lines.length - unread))) {
      const { id, created_at: at } = objectOf(line)
      const isChecked = (timeOf(at) ?? '') <= checkedAt
      if (typeof id === 'string' && isChecked)
        yield { kind: 'state', id, owner: senderName(name, workflow), state: 'read', at: checkedAt }
    }
  }
  yield { kind: 'mark', mark: file.mark }
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
  const workflow = nameThere(name, outgoing.owner)
  const inbox = inboxOf(workflow)
  if (outgoing.mayBeThere && hasLine(folder, inbox, ['id'], [outgoing.id])) {
    // Whoever wrote it may have been killed before it was counted.
    writeCount(folder, workflow, (unread) => Math.max(unread, folder.memory.unreadOf(outgoing.owner)))
    return inbox
  }
  folder.ensureDirectory(mailboxOf(workflow))
  folder.append(inbox, render(folder, outgoing))
  writeCount(folder, workflow, (unread) => unread + 1)
  return inbox
}

function writeCount(
  folder: Folder,
  workflow: string,
  change: (unread: number) => number,
  checkedAt?: string,
): void {
  const { unread, last_checked: last } = countIn(folder, workflow) ?? { unread: 0, last_checked: '' }
  const count = { unread: change(unread), last_checked: checkedAt ?? last }
  folder.replace(countOf(workflow), pythonLine(count), { temporary: `${countOf(workflow)}.tmp` })
}

/** Only what an agent here has read of its mail there is told, by the count. */
function summarize(folder: Folder, owner: string, unread: number, at: string): void {
  const workflow = nameThere(name, owner)
  if (!folder.has(mailboxOf(workflow))) return
  const known = countIn(folder, workflow)?.unread
  if (known !== unread) writeCount(folder, workflow, () => unread, at)
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
  project: (state): CopyState => (state === 'unread' || state === 'expired' ? 'unread' : 'read'),
  cannotHold: [
    ...(['requiresAck', 'tags', 'attachments', 'swarm', 'payload', 'context', 'expiresAt'] as const),
    ...(['replyTo', 'thread'] as const),
  ],
}
