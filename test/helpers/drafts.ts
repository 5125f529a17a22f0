import { FileJournal } from '../../src/journal/file/file-journal.ts'
import type { Journal, PlacedEntry } from '../../src/journal/journal.ts'
import { startCursor } from '../../src/journal/journal.ts'
import type { Agent } from '../../src/model/agent.ts'
import type { AgentDraft, Entry, Gist, MessageDraft } from '../../src/model/entry.ts'
import { createIdSource } from '../../src/model/id.ts'
import type { Message } from '../../src/model/message.ts'

const newId = createIdSource(Date.now)

/** A message with nothing special in it; name what matters to the test. */
export function messageDraft(fields: Partial<Message> = {}): MessageDraft {
  const id = newId()
  const message: Message = {
    id,
    from: 'ada',
    to: ['bob'],
    type: 'text',
    priority: 'normal',
    createdAt: '2026-01-02T03:04:05.678Z',
    threadId: id,
    requiresAck: false,
    awaitingResponse: false,
    tags: [],
    attachments: [],
    subject: 'hello',
    body: 'How are you?',
    ...fields,
  }
  return { kind: 'message', message }
}

export function agentDraft(fields: Partial<Agent> = {}): AgentDraft {
  const at = '2026-01-02T03:04:05.678Z'
  const agent: Agent = {
    name: 'ada',
    state: 'alive',
    roles: [],
    tags: [],
    session: { generation: 1, startedAt: at },
    lastSeenAt: at,
    ...fields,
  }
  return { kind: 'agent', change: 'joined', by: agent.name, agent }
}

/** Appends one message and answers with its place. */
export async function appendMessage(journal: Journal, fields: Partial<Message> = {}): Promise<PlacedEntry> {
  const [placed] = await journal.append(() => [messageDraft(fields)])
  return placed!
}

/** Everything a journal holds, from its first entry on. */
export async function readAll(journal: Journal, portionBytes?: number): Promise<PlacedEntry[]> {
  await journal.pull()
  const found: PlacedEntry[] = []
  for (let cursor = startCursor; ; ) {
    const read = journal.read(cursor, portionBytes)
    if (read.entries.length === 0) return found
    found.push(...read.entries)
    cursor = read.cursor
  }
}

/** Everything in the journal of a space that no process has open. */
export async function entriesIn(dir: string): Promise<Entry[]> {
  const journal = new FileJournal({ dir })
  try {
    return (await readAll(journal)).map(({ entry }) => entry)
  } finally {
    await journal.close()
  }
}

/** What a decision is told of an entry, whoever wrote it. */
export function gistOf(entry: Gist): Gist {
  if (entry.kind !== 'message') return entry
  const { id, from, to, type, priority } = entry.message
  return { seq: entry.seq, at: entry.at, kind: 'message', message: { id, from, to, type, priority } }
}

export const typeOf = (entry: Gist): string | undefined =>
  entry.kind === 'message' ? entry.message.type : undefined

export const seqsOf = (entries: readonly Gist[]): number[] => entries.map(({ seq }) => seq)

export const subjectOf = (entry: Entry): string | undefined =>
  entry.kind === 'message' ? entry.message.subject : undefined

/** The subjects of all messages, in the order of the journal. */
export async function subjectsIn(journal: Journal): Promise<string[]> {
  const placed = await readAll(journal)
  return placed.flatMap(({ entry }) => subjectOf(entry) ?? [])
}

/** The whole numbers from 1 to n. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, at) => at + 1)
