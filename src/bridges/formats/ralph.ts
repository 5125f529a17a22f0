import { basename, join } from 'node:path'
import { given, isObject } from '../../base/objects.ts'
import type { Folder } from '../folder.ts'
import type { CopyFact, CopyState, Fact, Format, Letter, Outgoing } from '../format.ts'
import { hasLine } from '../found-lines.ts'
import { isOld, type Line, newLines, objectIn } from '../jsonl.ts'
import { isName, shortId, stringsIn, timeOf } from '../letters.ts'
import { type LockManner, withLock } from '../lock.ts'

/*
 * The message bus of a team with a lead: a file for each agent, to which others append lines under a lock.
 *
 *   TEAM/mailbox/AGENT.jsonl, and AGENT.jsonl.lock while somebody appends
 *
 * Readers count the lines they have read and write nothing, so there are no states.
 */

const name = 'ralph'
const mailboxOf = (team: string): string => join(team, 'mailbox')
const fileOf = (team: string, agent: string): string => join(mailboxOf(team), `${agent}.jsonl`)
const lock: LockManner = { kind: 'file', staleMs: 10_000 }

const types = [
  ...['Text', 'StatusUpdate', 'ShutdownRequest', 'ShutdownResponse', 'PlanSubmission', 'PlanApproval'],
  ...['TaskAssignment', 'Broadcast'],
]

/** An agent of a team is `TEAM/AGENT` here, unless it is one of ours that takes part. */
const nameHere = (folder: Folder, team: string, agent: string): string =>
  folder.isHere(agent) && !folder.isHere(`${team}/${agent}`) ? agent : `${team}/${agent}`

/** Where somebody is: whoever is in no team by its name can be in any. */
function placeOf(folder: Folder, owner: string): { team: string; agent: string } | undefined {
  const at = owner.indexOf('/')
  const team = owner.slice(0, Math.max(at, 0))
  if (at > 0 && folder.has(mailboxOf(team))) return { team, agent: owner.slice(at + 1) }
  const found = folder.directories('').find((one) => folder.has(fileOf(one, owner)))
  return found === undefined ? undefined : { team: found, agent: owner }
}

const nameThere = (team: string, agent: string): string =>
  agent.startsWith(`${team}/`) ? agent.slice(team.length + 1) : agent

function* read(folder: Folder): Generator<Fact> {
  for (const team of folder.directories('')) {
    if (!isName(team) || !folder.isDue(mailboxOf(team))) continue
    for (const path of folder.files(mailboxOf(team), '.jsonl')) {
      const agent = basename(path, '.jsonl')
      if (!isName(agent)) {
        folder.problem(path, 'is no name that an agent can have here')
        continue
      }
      const owner = nameHere(folder, team, agent)
      yield { kind: 'agent', name: owner, tags: [`team:${team}`] }
      for (const line of newLines(folder, path)) {
        const fact = toFact(folder, path, line, team, owner)
        if (fact !== undefined) yield fact
      }
    }
  }
}

function toFact(folder: Folder, path: string, line: Line, team: string, owner: string): CopyFact | undefined {
  const message = objectIn(folder, path, line)
  if (message === undefined) return undefined
  const { MessageId: id, FromAgentId: from, ToAgentId: to, Content: content, Timestamp: time } = message
  const problem = (reason: string) => void folder.problem(path, reason, line.line, line.mark)
  if (typeof id !== 'string' || id === '') return problem('has no `MessageId`')
  if (!isName(from)) return problem('has no sender in `FromAgentId` that can be named here')
  const at = timeOf(time)
  const type = typeof message['Type'] === 'number' ? types[message['Type']] : message['Type']
  return {
    kind: 'copy',
    ...{
      id,
      owner,
      copy: owner,
      place: path,
      line: line.line,
      state: undefined,
      isPast: isOld(folder, line, at),
    },
    letter: {
      from: nameHere(folder, team, from),
      ...fromMetadata(message['Metadata']),
      body: typeof content === 'string' ? content : '',
      ...given({ type: to === '*' ? 'Broadcast' : typeof type === 'string' ? type : undefined, at }),
      swarm: team,
      expiresAt: null,
    },
    raw: line.text,
    mark: line.mark,
  }
}

type Said = Pick<Letter, 'subject' | 'payload' | 'context' | 'attachments' | 'tags' | 'replyTo'>

/** The metadata is a dictionary of strings. What is none of ours is the payload, with its verdicts as such. */
function fromMetadata(metadata: unknown): Said {
  if (!isObject(metadata)) return {}
  const { subject, replyTo, context, attachments, tags, payload, ...rest } = metadata
  const own = {
    subject: typeof subject === 'string' ? subject : undefined,
    replyTo: typeof replyTo === 'string' ? replyTo : undefined,
    context: asObject(parsed(context)),
    attachments: given({ list: listOf(attachments) }).list,
    tags: given({ list: listOf(tags) }).list,
  }
  const values = Object.entries(rest).map(([key, value]) => [
    key,
    verdicts.includes(key) ? asFlag(value) : value,
  ])
  const others = payload === undefined ? Object.fromEntries(values) : parsed(payload, payload)
  const isEmpty = isObject(others) && Object.keys(others).length === 0
  return given({ ...own, payload: isEmpty ? undefined : others })
}

const verdicts = ['approved', 'accepted']
const asFlag = (value: unknown): unknown => (value === 'true' ? true : value === 'false' ? false : value)
const asObject = (value: unknown) => (isObject(value) ? value : undefined)

function listOf(value: unknown): string[] | undefined {
  const list = stringsIn(parsed(value))
  return list.length === 0 ? undefined : list
}

/** The value that a string is the JSON of. */
function parsed(value: unknown, otherwise?: unknown): unknown {
  try {
    return typeof value === 'string' ? (JSON.parse(value) as unknown) : otherwise
  } catch {
    return otherwise
  }
}

function toMetadata({ subject, payload, context, attachments = [], tags = [], replyTo }: Said) {
  const own = given({
    subject: subject || undefined,
    replyTo,
    context: context && JSON.stringify(context),
    attachments: attachments.length > 0 ? JSON.stringify(attachments) : undefined,
    tags: tags.length > 0 ? JSON.stringify(tags) : undefined,
  })
  const isPlain = (value: unknown, key: string) =>
    !ownNames.includes(key) &&
    (verdicts.includes(key) ? typeof value === 'boolean' : typeof value === 'string')
  const entries = isObject(payload) ? Object.entries(payload) : []
  const isSpread = entries.length > 0 && entries.every(([key, value]) => isPlain(value, key))
  const rest = isSpread ? Object.fromEntries(entries.map(([key, value]) => [key, String(value)])) : {}
  const isNothing = payload === undefined || (isObject(payload) && entries.length === 0)
  const whole = isNothing || isSpread ? {} : { payload: JSON.stringify(payload) }
  const metadata = { ...own, ...rest, ...whole }
  return Object.keys(metadata).length === 0 ? null : metadata
}

const ownNames = ['subject', 'replyTo', 'context', 'attachments', 'tags', 'payload']

const spelling = (type: string): string => type.toLowerCase().replaceAll('_', '')

function render(folder: Folder, { id, owner, letter, raw, isGroup }: Outgoing): string {
  if (raw !== undefined) return raw
  const { team, agent } = placeOf(folder, owner) ?? { team: letter.swarm ?? '', agent: owner }
  const { from, type = 'text', body = '', at } = letter
  return JSON.stringify({
    MessageId: id,
    FromAgentId: nameThere(team, from),
    ToAgentId: isGroup || spelling(type) === 'broadcast' ? '*' : agent,
    Type: isGroup ? 'Broadcast' : (types.find((one) => spelling(one) === spelling(type)) ?? 'Text'),
    Content: body,
    Metadata: toMetadata(letter),
    Timestamp: at,
  })
}

function write(folder: Folder, outgoing: Outgoing): string {
  const place = placeOf(folder, outgoing.owner)
  if (place === undefined) return ''
  const file = fileOf(place.team, place.agent)
  const line = render(folder, outgoing)
  withLock(folder, `${file}.lock`, lock, () => {
    if (!outgoing.mayBeThere || !hasLine(folder, file, ['MessageId'], [outgoing.id]))
      folder.append(file, line)
  })
  return file
}

export const ralph: Format = {
  name,
  about: 'the message bus of a team with a lead',
  usualPaths: ({ HOME = '' }) => [join(HOME, '.ralph', 'teams')],
  fits: (folder) => folder.directories('').some((team) => folder.has(mailboxOf(team))),
  watched: (folder) => [
    '',
    ...folder
      .directories('')
      .flatMap((team) => [team, mailboxOf(team)])
      .filter((dir) => folder.stat(dir)?.isDirectory() === true),
  ],
  read,
  reaches: (folder, owner) => placeOf(folder, owner) !== undefined,
  idFor: shortId,
  render,
  write,
  setState: (_, __, state) => state,
  project: (): CopyState => 'unread',
  cannotHold: ['type', 'priority', 'requiresAck', 'awaitingResponse', 'expiresAt', 'swarm', 'thread'],
}
