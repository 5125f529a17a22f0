import { MailboxError } from '../base/errors.ts'
import { type ProcessIdentity, processesAbove } from '../base/process.ts'
import { type Agent, person, systemAgent } from '../model/agent.ts'
import { isRemote } from '../model/client.ts'
import type { Source } from '../query/message.ts'
import { agentByName } from '../query/roster.ts'
import { tryToRecord } from './audit.ts'
import type { SpaceCore } from './core.ts'

/**
 * Who a process may act as. Outside the clients of agents the owner of the account is the person, who may act as any
 * agent. What runs inside a client, such as the shell of an agent, may act as the agents of that client, and as
 * another only with the secret of that one, or of the person, in MAILBOX_SECRET. That stops mistakes and agents that were talked into something. It does not stop a program that goes out of
 * its way, because the files of a space belong to one account: docs/security.md.
 */

/** Holds what `mailbox key export NAME` printed. */
const secretVariable = 'MAILBOX_SECRET'

/** The agents of the nearest client above this process, or among those named, the one that started last first. None outside of clients. */
export const clientAgents = (
  core: SpaceCore,
  above: readonly ProcessIdentity[] = processesAbove(),
): Promise<string[]> => core.query((source) => agentsOf(source, above))

/** The same for whoever reads: outside of clients, and in a hub, it is everybody. */
export const actorsOf = async (core: SpaceCore): Promise<string[]> =>
  core.actsForAll ? [] : clientAgents(core)

function agentsOf({ index }: Source, above: readonly ProcessIdentity[]): string[] {
  const seated = index
    .sql('SELECT json FROM agent WHERE pid IN (SELECT value FROM json_each(?))')
    .all<[string]>([JSON.stringify(above.map(({ pid }) => pid))])
    .map(([json]) => JSON.parse(json) as Agent)
    // Whoever comes over HTTP can name any process as its own.
    .filter(({ session }) => !isRemote(session))
  for (const { pid, pidStart, host } of above) {
    const here = seated.filter(
      ({ session }) => session.pid === pid && session.pidStart === pidStart && session.host === host,
    )
    if (here.length > 0) return here.sort(byStart).map(({ name }) => name)
  }
  return []
}

const byStart = (a: Agent, b: Agent): number =>
  Number(a.state === 'frozen') - Number(b.state === 'frozen') ||
  b.session.startedAt.localeCompare(a.session.startedAt)

/** Throws if this process may not act as `name`. `joins`: a name that nobody has yet may join. */
export async function mustBeAllowed(
  core: SpaceCore,
  name: string,
  { joins = false }: { joins?: boolean } = {},
): Promise<void> {
  if (name === systemAgent && !joins)
    throw new MailboxError('not_permitted', `${systemAgent} is the mailbox itself`, {
      hint: 'act as an agent: --as NAME',
    })
  if (core.actsForAll) return
  const own = await clientAgents(core)
  if (own.length === 0 || own.includes(name) || (await holdsSecret(core, name))) return
  if (joins && name !== person && !core.agents.has(name)) return
  await tryToRecord(core, { event: 'refused', by: own[0]!, about: name, note: `act as ${name}` })
  throw notAllowed(own[0]!, name)
}

/** Whether this process was given the secret of an agent, or that of the person, which is good for every name. */
async function holdsSecret(core: SpaceCore, name: string): Promise<boolean> {
  const text = process.env[secretVariable]
  if (!text || name === systemAgent) return false
  const { isKeyOf } = await import('./keys.ts')
  return (await isKeyOf(core, name, text)) || (name !== person && (await isKeyOf(core, person, text)))
}

/** Throws if this process runs inside a client, for what only the person may do. */
export async function mustBePerson(core: SpaceCore, what: string): Promise<void> {
  if (core.actsForAll) return
  const [own] = await clientAgents(core)
  if (own === undefined || (await holdsSecret(core, person))) return
  await tryToRecord(core, { event: 'refused', by: own, note: what })
  throw new MailboxError('not_permitted', `${own} may not ${what}: that is up to the person`, {
    hint: 'run the command in a terminal outside the client',
  })
}

/**
 * Roles that count are given by the person: those that lead, where rules say who may write to whom, and what else the
 * person has listed. Throws if an agent would take one for itself. `isAgent`: whether it is known that an agent acts.
 */
export async function mustBeGranted(
  core: SpaceCore,
  name: string,
  roles: readonly string[] | undefined,
  isAgent = false,
): Promise<void> {
  const { leads, rules, 'roles.granted': granted } = core.settings
  const counted = rules === 'open' ? granted : [...granted, ...leads]
  const wanted = Array.isArray(roles) ? roles.filter((role: string) => counted.includes(role)) : []
  if (wanted.length === 0 || name === person) return
  // The person may have given it in another process, a moment ago.
  const held = (await core.query((source) => agentByName(source, name)))?.roles ?? []
  const taken = wanted.find((role) => !held.includes(role))
  if (taken === undefined) return
  const isPerson = !isAgent && (core.actsForAll || (await holdsSecret(core, person)))
  const acts = isAgent ? name : isPerson ? undefined : (await clientAgents(core))[0]
  if (acts === undefined)
    return tryToRecord(core, { event: 'role_granted', by: person, about: name, note: taken })
  await tryToRecord(core, { event: 'refused', by: acts, about: name, note: `take the role ${taken}` })
  throw new MailboxError('not_permitted', `${name} cannot take the role ${taken}: the person gives it`, {
    hint: `the person can, in a terminal outside the client: mailbox --as ${name} update --role ${taken}`,
  })
}

function notAllowed(own: string, name: string): MailboxError {
  const where = name === person ? 'decide it in a terminal outside the client, or in the console' : ''
  return new MailboxError(
    'not_permitted',
    `this runs inside the client of ${own}, which cannot act as ${name}`,
    {
      hint:
        where ||
        `act as ${own}, or run the command outside the client; a program that is meant to act as ${name} gets its secret: ${secretVariable}`,
    },
  )
}
