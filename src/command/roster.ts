import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import type { DirectoryView, View } from '../conversation/view.ts'
import { checkTag } from '../model/address.ts'
import { type Agent, implicitPerson, person, type Session, systemAgent } from '../model/agent.ts'
import type { Directory } from '../model/directory.ts'
import { type AgentDraft, agentDraft, type Draft } from '../model/entry.ts'
import { checkName } from '../model/name.ts'
import { isoTime } from '../model/time.ts'
import type { Context, Decision } from './context.ts'
import { isRunning, type ProcessStates } from './due/deaths.ts'
import { freeClaims } from './due/letter-changes.ts'
import { nearest } from './resolve.ts'
import { extend, revive } from './revive.ts'

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
  const near = nearest(name, [person, ...directory.agents.keys()])
  const join = `join first: mailbox join ${/^[\w./-]+$/.test(name) ? name : JSON.stringify(name)}`
  throw new MailboxError('not_found', `no agent named ${JSON.stringify(name)}`, {
    hint: near.length > 0 ? `did you mean ${near.join(' or ')}? Otherwise ${join}` : join,
  })
}

/** The agent, or an error if it has left: it must join again first. */
export function requirePresent(directory: Directory, name: string): Agent {
  const agent = requireAgent(directory, name)
  if (agent.state !== 'dead' || agent.gone !== 'left') return agent
  throw new MailboxError('conflict', `${name} has left`, { hint: `join again: mailbox join ${name}` })
}

/** Starts a new run of an agent. Its generation rises, so that mail for an old run can be recognized. */
export function decideJoin(view: View, name: string, input: JoinInput, context: Context): Draft[] {
  const { directory } = view
  const { now } = context
  checkName(name, 'agent name')
  if (name === systemAgent)
    throw new MailboxError('invalid', `the name ${name} is reserved`, { hint: 'choose another name' })
  const before = directory.agents.get(name)
  const at = isoTime(now)
  const { pid, pidStart, host, client, id } = input.session ?? {}
  checkSession(input.session ?? {})
  checkText('note', input.note)
  const session: Session = {
    generation: (before?.session.generation ?? 0) + 1,
    startedAt: at,
    ...given({ pid, pidStart, host, client, id }),
  }
  const roles = checkRoles(input.roles ?? before?.roles ?? [])
  const tags = checkTags(input.tags ?? before?.tags ?? [])
  const { note } = input
  const agent: Agent = { name, state: 'alive', roles, tags, session, lastSeenAt: at, ...given({ note }) }
  if (before?.state === 'frozen') {
    const resumed = agentDraft('resumed', name, agent)
    return [...extend(view, before, now), resumed, ...revive(view, name, context)]
  }
  const inherited = before?.state === 'dead' ? revive(view, name, context) : []
  return [agentDraft('joined', name, agent), ...freeClaims(view, name, context), ...inherited]
}

export interface SeatInput {
  /** The required agent. If omitted, the agent already in this process, or a new one. */
  name?: string | undefined
  /** The client, after which new agents are named. */
  client: string
  session: NonNullable<JoinInput['session']>
  /** Whether it may join or resume. `false`: only an agent that is already there. @default true */
  joins?: boolean
}

/**
 * Finds the agent of a process. A client connects in several ways (hooks, tools), which must all find the same
 * agent: the one that joined from this process, or whose session is resumed here, or a new one. Two sessions
 * in one process are two agents; a session that starts after another has ended takes over its agent.
 */
export function decideSeat(
  view: View,
  { name, client, session, joins = true }: SeatInput,
  processes: Pick<ProcessStates, 'gone'>,
  context: Context,
): Decision<string> {
  const { id } = session
  const here = [...view.directory.agents.values()]
    .filter((agent) => agent.state !== 'dead' && isSameProcess(agent.session, session))
    .sort(
      (a, b) =>
        Number(b.state !== 'frozen') - Number(a.state !== 'frozen') ||
        b.session.startedAt.localeCompare(a.session.startedAt),
    )
  const isOfSession = (agent: Agent) =>
    id === undefined || agent.session.id === undefined || agent.session.id === id
  const isResumed = (agent: Agent) =>
    id !== undefined &&
    agent.session.id === id &&
    agent.session.client === client &&
    !isRunning(agent, processes)
  const seated =
    here.find(isOfSession) ??
    [...view.directory.agents.values()].find(isResumed) ??
    here.find(({ state }) => state === 'frozen')
  const found = name ?? seated?.name ?? freeName(client, view.directory)
  const before = findAgent(view.directory, found)
  if (before !== undefined && isRunning(before, processes)) return { drafts: [], result: found }
  if (!joins)
    throw new MailboxError('conflict', `the session of ${found} has ended`, { hint: 'start a new session' })
  return { drafts: decideJoin(view, found, { session: { ...session, client } }, context), result: found }
}

const isSameProcess = (one: Session, other: NonNullable<JoinInput['session']>): boolean =>
  other.pid !== undefined &&
  one.pid === other.pid &&
  one.pidStart === other.pidStart &&
  one.host === other.host

/** The first of `claude-1`, `claude-2` … that no living or frozen agent has. */
function freeName(client: string, { agents }: Directory): string {
  for (let n = 1; ; n++) {
    const agent = agents.get(`${client}-${n}`)
    if (agent === undefined || agent.state === 'dead') return `${client}-${n}`
  }
}

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
    throw new MailboxError('invalid', `an agent cannot set its state to ${JSON.stringify(input.state)}`, {
      hint: `use ${chosenStates.join(', ')}; to leave or freeze: mailbox leave`,
    })
  }
  const roles = checkRoles([...before.roles.filter((role) => !removeRoles.includes(role)), ...addRoles])
  const tags = checkTags([...before.tags.filter((tag) => !removeTags.includes(tag)), ...addTags])
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
  checkName(name, 'agent name')
  const before = directory.agents.get(name)
  const at = isoTime(now)
  const tags = checkTags([...(before?.tags ?? []), tag])
  const expected: Agent = {
    ...{ name, state: 'frozen', roles: [], session: { generation: 0, startedAt: at }, lastSeenAt: at },
    tags,
  }
  const agent = before === undefined ? expected : { ...before, tags }
  return [agentDraft(before === undefined ? 'frozen' : 'updated', systemAgent, agent)]
}

/** Leaves for good, or frozen: then its mail waits until it returns. */
export function decideLeave(
  { directory }: DirectoryView,
  name: string,
  frozen: boolean,
  { now }: Context,
): AgentDraft[] {
  if (name === person)
    throw new MailboxError('not_permitted', 'the person cannot leave', {
      hint: 'leave as an agent: --as NAME',
    })
  const before = requireAgent(directory, name)
  const agent: Agent = {
    ...before,
    state: frozen ? 'frozen' : 'dead',
    ...(frozen ? {} : { gone: 'left' }),
    lastSeenAt: frozen && before.state === 'frozen' ? before.lastSeenAt : isoTime(now),
  }
  return [agentDraft(frozen ? 'frozen' : 'left', name, agent)]
}

/** Restates every agent, so that the entries that introduced them can be removed. */
export const decideRestate = ({ directory }: DirectoryView): AgentDraft[] =>
  [...directory.agents.values()].map((agent) => agentDraft('updated', systemAgent, agent))

const checkRoles = (roles: readonly string[]) => [
  ...new Set(list(roles, 'roles').map((role) => checkName(role, 'role'))),
]
const checkTags = (tags: readonly string[]) => [...new Set(list(tags, 'tags').map(checkTag))]

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
    throw new MailboxError('invalid', `${JSON.stringify(pid)} is not a pid`, {
      hint: 'a pid is a whole number above 0',
    })
  const texts = { pidStart, host, client, 'session id': id }
  for (const [field, value] of Object.entries(texts)) checkText(field, value)
}
