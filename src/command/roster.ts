import { MailboxError } from '../errors.ts'
import { checkTag } from '../model/address.ts'
import { type Agent, person, type Session, systemAgent } from '../model/agent.ts'
import type { Directory } from '../model/directory.ts'
import type { AgentDraft } from '../model/entry.ts'
import { checkName } from '../model/name.ts'
import { isoTime } from '../model/time.ts'
import type { Context, DirectoryView } from './context.ts'
import { nearest } from './resolve.ts'

export interface JoinInput {
  /** Replaces the roles the agent had; left out, it keeps them. */
  roles?: readonly string[]
  tags?: readonly string[]
  /** What tells this run from others: its process, its host, the client it runs in. */
  session?: Partial<Pick<Session, 'pid' | 'pidStart' | 'host' | 'client'>>
  note?: string
}

export interface UpdateInput {
  addRoles?: readonly string[]
  removeRoles?: readonly string[]
  addTags?: readonly string[]
  removeTags?: readonly string[]
  state?: 'alive' | 'idle' | 'waiting'
  note?: string
}

/** The agent as everybody sees it; the person is in every roster without ever joining. */
export function findAgent(directory: Directory, name: string): Agent | undefined {
  const known = directory.agents.get(name)
  if (known !== undefined || name !== person) return known
  const epoch = isoTime(0)
  return {
    name: person,
    state: 'alive',
    roles: [],
    tags: [],
    session: { generation: 0, startedAt: epoch },
    lastSeenAt: epoch,
  }
}

/** The agent, or an error that says how to become one. */
export function requireAgent(directory: Directory, name: string): Agent {
  const agent = findAgent(directory, name)
  if (agent !== undefined) return agent
  const near = nearest(name, [person, ...directory.agents.keys()])
  const join = `join first: mailbox join ${/^[\w./-]+$/.test(name) ? name : JSON.stringify(name)}`
  throw new MailboxError('not_found', `no agent is called ${JSON.stringify(name)}`, {
    hint: near.length > 0 ? `did you mean ${near.join(' or ')}? If not, ${join}` : join,
  })
}

/** A new run of an agent, known or not: its generation rises, so that mail for an old run can be told. */
export function decideJoin(
  { directory }: DirectoryView,
  name: string,
  input: JoinInput,
  { now }: Context,
): AgentDraft[] {
  checkName(name, 'agent name')
  if (name === systemAgent)
    throw new MailboxError('invalid', `${name} is not an agent`, { hint: 'choose another name' })
  const before = directory.agents.get(name)
  const at = isoTime(now)
  const { pid, pidStart, host, client } = input.session ?? {}
  const session: Session = {
    generation: (before?.session.generation ?? 0) + 1,
    startedAt: at,
    ...(pid === undefined ? {} : { pid }),
    ...(pidStart === undefined ? {} : { pidStart }),
    ...(host === undefined ? {} : { host }),
    ...(client === undefined ? {} : { client }),
  }
  const roles = checkRoles(input.roles ?? before?.roles ?? [])
  const tags = checkTags(input.tags ?? before?.tags ?? [])
  const note = input.note === undefined ? {} : { note: input.note }
  const agent: Agent = { name, state: 'alive', roles, tags, session, lastSeenAt: at, ...note }
  return [{ kind: 'agent', change: before?.state === 'frozen' ? 'resumed' : 'joined', by: name, agent }]
}

export function decideUpdate(
  { directory }: DirectoryView,
  name: string,
  input: UpdateInput,
  { now }: Context,
): AgentDraft[] {
  const before = requireAgent(directory, name)
  const { addRoles = [], removeRoles = [], addTags = [], removeTags = [] } = input
  const roles = checkRoles([...before.roles.filter((role) => !removeRoles.includes(role)), ...addRoles])
  const tags = checkTags([...before.tags.filter((tag) => !removeTags.includes(tag)), ...addTags])
  const note = input.note === undefined ? {} : { note: input.note }
  const agent: Agent = {
    ...before,
    roles,
    tags,
    state: input.state ?? before.state,
    lastSeenAt: isoTime(now),
    ...note,
  }
  return [{ kind: 'agent', change: 'updated', by: name, agent }]
}

/** Leaves for good, or frozen: expected back, its mail waits. */
export function decideLeave(
  { directory }: DirectoryView,
  name: string,
  frozen: boolean,
  { now }: Context,
): AgentDraft[] {
  if (name === person)
    throw new MailboxError('not_permitted', 'the person does not leave', {
      hint: 'leave as an agent: --as NAME',
    })
  const before = requireAgent(directory, name)
  const agent: Agent = { ...before, state: frozen ? 'frozen' : 'dead', lastSeenAt: isoTime(now) }
  return [{ kind: 'agent', change: frozen ? 'frozen' : 'left', by: name, agent }]
}

const checkRoles = (roles: readonly string[]) => [...new Set(roles.map((role) => checkName(role, 'role')))]
const checkTags = (tags: readonly string[]) => [...new Set(tags.map(checkTag))]
