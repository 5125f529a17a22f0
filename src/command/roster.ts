import { MailboxError } from '../base/errors.ts'
import { quote } from '../base/json.ts'
import { nearest } from '../base/nearest.ts'
import { given } from '../base/objects.ts'
import { quoteForShell } from '../base/shell.ts'
import type { DirectoryView, View } from '../conversation/view.ts'
import { checkTag, tagLabel } from '../model/address.ts'
import { type Agent, implicitPerson, isAway, person, type Session, systemAgent } from '../model/agent.ts'
import type { Directory } from '../model/directory.ts'
import { type AgentDraft, agentDraft, type Draft } from '../model/entry.ts'
import { reservedLookAlike } from '../model/look-alike.ts'
import { checkName } from '../model/name.ts'
import { isoTime } from '../model/time.ts'
import type { Context } from './context.ts'
import { type ProcessStates, runOf } from './due/deaths.ts'
import { freeClaims } from './due/letter-changes.ts'
import { welcomeBack } from './revive.ts'

export interface JoinInput {
  /** Replaces the agent's roles; if omitted, it keeps them. */
  roles?: readonly string[]
  tags?: readonly string[]
  /** What identifies this run: its process, its host, the client it runs in. */
  session?: Partial<Pick<Session, 'pid' | 'pidStart' | 'host' | 'client' | 'id'>>
  note?: string
}

/** The states that an agent can set for itself. */
const chosenStates = ['alive', 'idle', 'waiting'] as const

export interface UpdateInput {
  addRoles?: readonly string[]
  removeRoles?: readonly string[]
  addTags?: readonly string[]
  removeTags?: readonly string[]
  state?: (typeof chosenStates)[number]
  note?: string
}

/** Finds an agent; the person is in every roster without joining. */
export function findAgent(directory: Directory, name: string): Agent | undefined {
  return directory.agents.get(name) ?? (name === person ? implicitPerson() : undefined)
}

/** The agent, or an error that says how to join. */
export function requireAgent(directory: Directory, name: string): Agent {
  const agent = findAgent(directory, name)
  if (agent !== undefined) return agent
  const near = namesNear(directory, name, [person, ...directory.agents.keys()])
  const join = `join first: mailbox join ${/^[\w./-]+$/.test(name) ? name : JSON.stringify(name)}`
  throw new MailboxError('not_found', `no agent named ${JSON.stringify(name)}`, {
    hint: near.length > 0 ? `did you mean ${near.join(' or ')}? Otherwise ${join}` : join,
  })
}

/** Up to three names that one could have meant: the one that looks the same, then those that a typo makes. */
export function namesNear(directory: Directory, name: string, known: readonly string[]): string[] {
  const same = reservedLookAlike(name) === person ? person : directory.lookAlike(name)
  const near = nearest(name, known).filter((one) => one !== same)
  return same === undefined ? near : [same, ...near].slice(0, 3)
}

/** The agent, or an error if it has left: it must join again first. */
export function requirePresent(directory: Directory, name: string): Agent {
  const agent = requireAgent(directory, name)
  if (agent.state !== 'dead' || agent.gone !== 'left') return agent
  throw new MailboxError('conflict', `${name} has left`, { hint: `join again: mailbox join ${name}` })
}

/**
 * Starts a new run of an agent. Its generation rises, so that mail for an old run can be recognized. `gone`: runs whose
 * process has ended, which nobody may have noticed yet.
 */
export function decideJoin(
  view: View,
  name: string,
  input: JoinInput,
  context: Context,
  gone: ProcessStates['gone'] = new Set(),
): Draft[] {
  const { directory } = view
  const { now } = context
  const before = directory.agents.get(name)
  if (before === undefined) checkNewName(directory, name)
  const at = isoTime(now)
  const { pid, pidStart, host, client, id } = input.session ?? {}
  checkSession(input.session ?? {})
  checkText('note', input.note)
  const isResumed = before !== undefined && resumes(before, id)
  const session: Session = {
    generation: (before?.session.generation ?? 0) + (isResumed ? 0 : 1),
    startedAt: isResumed ? before.session.startedAt : at,
    ...(isResumed ? given({ client: before.session.client, id: before.session.id }) : {}),
    ...given({ pid, pidStart, host, client, id }),
  }
  const roles = checkRoles(input.roles ?? before?.roles ?? [], before?.roles)
  const tags = checkTags(input.tags ?? before?.tags ?? [], before?.tags)
  const { note } = input
  const wasAway = before?.state === 'frozen' || before?.state === 'dead'
  const lastAway = wasAway ? { from: before.lastSeenAt, to: at } : before?.lastAway
  const agent: Agent = {
    ...{ name, state: 'alive', roles, tags, session, lastSeenAt: at },
    ...given({ lastAway, note }),
  }
  const found = wasAway ? welcomeBack(view, before, context) : []
  if (isResumed) return [agentDraft('resumed', name, agent), ...found]
  const hasDied = before !== undefined && gone.has(runOf(before))
  const freed = freeClaims(view, name, context, `${name} started a new run`, hasDied)
  return [agentDraft('joined', name, agent), ...freed, ...found]
}

/** Whether an agent that joins continues the run that was frozen; another session of its client is a new run. */
const resumes = ({ state, session }: Agent, id: string | undefined): boolean =>
  state === 'frozen' &&
  session.generation > 0 &&
  (id === undefined || session.id === undefined || session.id === id)

export function decideUpdate(
  { directory }: DirectoryView,
  name: string,
  input: UpdateInput,
  { now }: Context,
): AgentDraft[] {
  if (input === null || typeof input !== 'object')
    throw new MailboxError('invalid', 'nothing to update', { hint: 'pass roles, tags, a state or a note' })
  const { addRoles = [], removeRoles = [], addTags = [], removeTags = [], note } = input
  const before = requirePresent(directory, name)
  checkText('note', note)
  if (input.state !== undefined && !chosenStates.includes(input.state)) {
    throw new MailboxError('invalid', `an agent cannot set its state to ${quote(input.state)}`, {
      hint: `use ${chosenStates.join(', ')}; to leave or freeze: mailbox leave`,
    })
  }
  const kept = before.roles.filter((role) => !removeRoles.includes(role))
  const roles = checkRoles([...kept, ...list(addRoles, 'roles')], kept)
  const removed = list(removeTags, 'removeTags').map(tagLabel)
  const left = before.tags.filter((tag) => !removed.includes(tagLabel(tag)))
  const tags = checkTags([...left, ...list(addTags, 'tags')], left)
  // For a frozen or dead agent, lastSeenAt records since when, so it must not change.
  const isHere = before.state !== 'frozen' && before.state !== 'dead'
  const moves = isHere ? { state: input.state ?? before.state, lastSeenAt: isoTime(now) } : {}
  return [agentDraft('updated', name, { ...before, roles, tags, ...moves, ...given({ note }) })]
}

/** Registers a swarm member that has not joined yet, so that its mail waits. A known agent only gets the tag. */
export function decideSeed(
  { directory }: DirectoryView,
  name: string,
  tag: string,
  { now }: Context,
): AgentDraft[] {
  const before = directory.agents.get(name)
  if (before === undefined) checkNewName(directory, name)
  const at = isoTime(now)
  const tags = checkTags([...(before?.tags ?? []), tag], before?.tags)
  const expected: Agent = {
    ...{ name, state: 'frozen', roles: [], session: { generation: 0, startedAt: at }, lastSeenAt: at },
    tags,
  }
  const agent = before === undefined ? expected : { ...before, tags }
  return [agentDraft(before === undefined ? 'frozen' : 'updated', systemAgent, agent)]
}

/** Leaves for good, or frozen: then its mail waits until it returns. */
export function decideLeave(
  view: View,
  name: string,
  frozen: boolean,
  context: Context,
  /** Whether what it had taken for a role is free. */
  frees = false,
): Draft[] {
  if (name === person)
    throw new MailboxError('not_permitted', 'the person cannot leave', {
      hint: 'leave as an agent: --as NAME',
    })
  const before = requireAgent(view.directory, name)
  const agent: Agent = {
    ...before,
    state: frozen ? 'frozen' : 'dead',
    ...(frozen ? {} : { gone: 'left' }),
    // Whoever is away already is so since then.
    lastSeenAt: frozen && isAway(before) ? before.lastSeenAt : isoTime(context.now),
  }
  const freed = frees ? freeClaims(view, name, context, `the session of ${name} has ended`, false) : []
  return [agentDraft(frozen ? 'frozen' : 'left', name, agent), ...freed]
}

/** Restates every agent, so that the entries that introduced them can be removed. */
export const decideRestate = ({ directory }: DirectoryView): AgentDraft[] =>
  [...directory.agents.values()].map((agent) => agentDraft('updated', systemAgent, agent))

/** Checks an agent that comes from another space. */
export function checkAgent({ name, roles, tags, session, note }: Agent): void {
  checkAgentName(name)
  checkRoles(roles)
  checkTags(tags)
  checkSession(session)
  checkText('note', note)
}

function checkAgentName(name: string): void {
  checkName(name, 'agent name')
  if (name === systemAgent)
    throw new MailboxError('invalid', `the name ${name} is reserved`, { hint: 'choose another name' })
  checkUnlikeReserved(name)
}

/** Refuses a name that would be taken for the person, the system, or a word with a meaning in addresses. */
export function checkUnlikeReserved(name: string): void {
  const reserved = reservedLookAlike(name)
  if (reserved === undefined) return
  throw new MailboxError(
    'invalid',
    `the name ${JSON.stringify(name)} looks like ${JSON.stringify(reserved)}, which is reserved`,
    { hint: 'choose another name' },
  )
}

/**
 * Checks the name of an agent that is not in the roster yet: whoever is there goes on, whatever it is called. A name
 * that looks like another's would be taken for it.
 */
function checkNewName(directory: Directory, name: string): void {
  checkAgentName(name)
  const other = name === person ? undefined : directory.lookAlike(name)
  if (other === undefined) return
  throw new MailboxError(
    'conflict',
    `the name ${JSON.stringify(name)} looks like ${JSON.stringify(other)}, an agent that is in the roster`,
    { hint: `choose another name; to act as that agent: --as ${quoteForShell(other)}` },
  )
}

/** `known`: what an agent has already, which was checked when it got it. */
const checkRoles = (roles: readonly string[], known: readonly string[] = []) => [
  ...new Set(list(roles, 'roles').map((role) => (known.includes(role) ? role : checkName(role, 'role')))),
]
const checkTags = (tags: readonly string[], known: readonly string[] = []) => [
  ...new Set(list(tags, 'tags').map((tag) => (known.includes(tag) ? tag : checkTag(tag)))),
]

function list(value: readonly string[], field: string): readonly string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw new MailboxError('invalid', `${field} must be a list of strings`, { hint: `pass ${field}: ['…']` })
}

/** Checks a short text about an agent or its run: one line without control characters. */
function checkText(field: string, value: string | undefined): void {
  if (value === undefined) return
  if (typeof value !== 'string' || value.length > 200 || /[\p{Cc}\p{Cs}]/u.test(value)) {
    throw new MailboxError('invalid', `${field} must be a short text`, {
      hint: 'use one line of at most 200 characters',
    })
  }
}

function checkSession({ pid, pidStart, host, client, id }: NonNullable<JoinInput['session']>): void {
  if (pid !== undefined && !(Number.isSafeInteger(pid) && pid > 0))
    throw new MailboxError('invalid', `${quote(pid)} is not a pid`, {
      hint: 'a pid is a whole number above 0',
    })
  const texts = { pidStart, host, client, 'session id': id }
  for (const [field, value] of Object.entries(texts)) checkText(field, value)
}
