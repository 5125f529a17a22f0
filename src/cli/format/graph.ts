import { boxesTo, isGroupBox } from '../../model/address.ts'
import type { Entry } from '../../model/entry.ts'
import type { Message } from '../../model/message.ts'

/** Text before, between and after the parts of a graph. `next` is the cursor from which to go on later. */
export interface GraphWriter {
  begin: string
  /** What an entry adds to the graph, one text for each part. */
  parts: (entry: Entry) => string[]
  between: string
  end: (next: number) => string
}

/** The shapes of `mailbox export --graph`. */
export const graphShapes = {
  jsonld: (): GraphWriter => ({
    begin: `{"@context":${JSON.stringify(context)},\n"@graph":[\n`,
    parts: (entry) => nodes(entry).map((node) => JSON.stringify(node)),
    between: ',\n',
    end: (next) => `\n],\n"next":${next}}\n`,
  }),
  seed: (): GraphWriter => ({
    begin: '',
    parts: (entry) => statements(entry).map((lines) => `${lines.join('\n')}\n`),
    between: '\n',
    end: () => '',
  }),
}

const ids = { '@type': '@id', '@container': '@set' } as const
const json = { '@type': '@json' } as const

/** What the words of the nodes mean to a JSON-LD processor. */
const context = {
  '@version': 1.1,
  '@vocab': 'urn:agent-mailbox:graph#',
  time: { '@type': 'http://www.w3.org/2001/XMLSchema#dateTime' },
  sender: { '@type': '@id' },
  recipient: ids,
  actor: ids,
  tag: ids,
  thread: { '@type': '@id' },
  replyTo: { '@type': '@id' },
  payload: json,
  handoff: json,
  // The cursor is no part of the graph.
  next: null,
}

/** An IRI: what a name may contain and an IRI may not is escaped. */
const iri = (scheme: string, name: string): string =>
  `${scheme}:${encodeURIComponent(name.toWellFormed()).replaceAll('%2F', '/')}`

const situationOf = (id: string): string => iri('situation', `mailbox-msg-${id}`)

/** Whoever has a box: an agent, a role, the members of a group. */
function actorOf(box: string): string {
  if (box === 'all') return 'group:all'
  const colon = box.indexOf(':')
  return colon < 0 ? iri('agent', box) : iri(box.slice(0, colon), box.slice(colon + 1))
}

/** Messages are situations; who takes mail of a role or reads mail of a group joins one. */
function nodes(entry: Entry): object[] {
  if (entry.kind === 'message') return [situation(entry.message)]
  return joinings(entry).map(({ id, agent }) => ({ '@id': situationOf(id), actor: [actorOf(agent)] }))
}

function situation(message: Message): object {
  const { id, from, type, priority, createdAt, threadId, replyTo, tags, subject, body } = message
  const { attachments, payload, context: handoff } = message
  return {
    '@id': situationOf(id),
    '@type': 'situation',
    scale: 'act',
    time: createdAt,
    sender: actorOf(from),
    recipient: boxesTo(message.to).map(actorOf),
    actor: actorsIn(message),
    thread: iri('thread', threadId),
    ...(replyTo !== undefined && { replyTo: situationOf(replyTo) }),
    ...(tags.length > 0 && { tag: tags.map((tag) => (tag.includes(':') ? actorOf(tag) : iri('tag', tag))) }),
    materialization: {
      '@id': iri('message-content', id),
      '@type': 'message-content',
      messageType: type,
      priority,
      subject,
      content: body,
      ...(attachments.length > 0 && { attachment: attachments }),
      ...(payload !== undefined && { payload }),
      ...(handoff !== undefined && { handoff }),
    },
  }
}

const actorsIn = ({ from, to }: Message): string[] => [
  ...new Set([actorOf(from), ...boxesTo(to).map(actorOf)]),
]

/** Agents that an entry shows to have taken mail of a role, or to have seen mail of a group for the first time. */
function joinings(entry: Entry): { id: string; agent: string }[] {
  if (entry.kind !== 'receipt') return []
  return entry.changes.flatMap(({ id, owner, box, was, wasBox }) => {
    const isTaken = box !== owner && wasBox !== undefined
    const isSeen = was === undefined && !isGroupBox(owner)
    return isTaken || isSeen ? { id, agent: box } : []
  })
}

const belongs = (what: string, id: string, quality: string): string =>
  `${what} belongs-to ${situationOf(id)} quality: "${quality}"`

/** The same in the words of the mailbox protocol that the graph comes from. Texts are JSON strings, on one line. */
function statements(entry: Entry): string[][] {
  if (entry.kind !== 'message')
    return joinings(entry).map(({ id, agent }) => [belongs(actorOf(agent), id, 'actor')])
  const { message } = entry
  const { id, createdAt, subject, body } = message
  return [
    [
      `entity: ${situationOf(id)}`,
      'type: situation',
      ...actorsIn(message).map((actor) => belongs(actor, id, 'actor')),
      belongs('message-content', id, 'materialization'),
      `time: ${JSON.stringify(createdAt)}`,
      `subject: ${JSON.stringify(subject)}`,
      `content: ${JSON.stringify(body)}`,
    ],
  ]
}
