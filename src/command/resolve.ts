import { MailboxError } from '../base/errors.ts'
import { nearest } from '../base/nearest.ts'
import { type Address, parseAddress } from '../model/address.ts'
import { type Agent, person, systemAgent } from '../model/agent.ts'
import type { Directory } from '../model/directory.ts'
import { reservedLookAlike } from '../model/look-alike.ts'
import { namesNear } from './roster.ts'

export interface Resolved {
  addresses: Address[]
  /** What the sender should know although the mail was accepted. */
  warnings: string[]
}

/**
 * Resolves the recipients of a message. A bare name is an agent, or a role if no agent has that name, or else the id of
 * a client's session. An unknown name is rejected with the closest matches, unless the sender wants the mail held for an agent that has not joined yet.
 */
export function resolveAddresses(directory: Directory, written: readonly string[], hold: boolean): Resolved {
  const addresses: Address[] = []
  const warnings: string[] = []
  for (const text of written) {
    // Most mail goes to a known agent, whose name needs no check.
    const known = directory.agents.get(text)
    if (known !== undefined) {
      warnings.push(...absence(known))
      addresses.push({ kind: 'agent', name: text })
      continue
    }
    const address = ofSession(directory, resolveBare(directory, parseAddress(text), text))
    if (address.kind === 'agent' && address.name === systemAgent) {
      throw new MailboxError('not_permitted', 'the system cannot receive mail', {
        hint: 'write to an agent, a role or user',
      })
    }
    if (address.kind === 'agent') {
      const agent = directory.agents.get(address.name)
      if (agent !== undefined) warnings.push(...absence(agent))
      if (!isAgent(directory, address.name)) {
        if (!hold) throw unknownRecipient(directory, address.name)
        checkHeld(directory, address.name)
        warnings.push(`${address.name} has not joined yet; the message waits`)
      }
    }
    if (address.kind === 'role' && !directory.isHeld(address.name)) {
      const near = directory.knowsRole(address.name) ? [] : nearest(address.name, directory.roles)
      const meant = didYouMean(near.map((role) => `role:${role}`))
      warnings.push(`no agent has the role ${address.name} now; the message waits for one${meant}`)
    }
    if (address.kind === 'tag' && !directory.isTagged(address.tag)) {
      const meant = didYouMean(nearTags(directory, address.tag))
      warnings.push(`no agent has the tag ${address.tag} now; the message waits until it expires${meant}`)
    }
    addresses.push(address)
  }
  return { addresses, warnings }
}

const didYouMean = (near: readonly string[]): string =>
  near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`

/** Tags of the same namespace; values of one to three letters are all alike. */
function nearTags({ tags }: Directory, tag: string): string[] {
  const namespace = tag.slice(0, tag.indexOf(':') + 1)
  const value = tag.slice(namespace.length)
  const others = tags.filter((one) => one !== tag && one.startsWith(namespace))
  const near = nearest(
    value,
    others.map((one) => one.slice(namespace.length)),
  )
  return value.length < 4 ? [] : near.map((one) => namespace + one)
}

function absence({ name, state }: Agent): string[] {
  if (state === 'dead') return [`${name} is gone; unless it returns, this message becomes a dead letter`]
  return state === 'frozen' ? [`${name} is frozen; the message waits`] : []
}

const isAgent = (directory: Directory, name: string) => name === person || directory.agents.has(name)

function resolveBare(directory: Directory, address: Address, written: string): Address {
  const bare = address.kind === 'agent' && !written.startsWith('agent:')
  if (!bare || isAgent(directory, address.name) || !directory.knowsRole(address.name)) return address
  return { kind: 'role', name: address.name }
}

/** What no agent or role is called may be what a client calls its session: then it means the agent that has it. */
function ofSession(directory: Directory, address: Address): Address {
  if (address.kind !== 'agent' || isAgent(directory, address.name)) return address
  const [found, ...others] = directory.ofSession(address.name)
  if (found === undefined) return address
  if (others.length === 0) return { kind: 'agent', name: found.name }
  throw new MailboxError('unknown_recipient', `several agents have the session ${address.name}`, {
    hint: `name one of them: ${[found, ...others].map(({ name }) => name).join(', ')}`,
  })
}

/** Nobody can join under a name that looks like another, so mail for it would never be read. */
function checkHeld(directory: Directory, name: string): void {
  const other = reservedLookAlike(name) ?? directory.lookAlike(name)
  if (other === undefined) return
  throw new MailboxError(
    'unknown_recipient',
    `${JSON.stringify(name)} looks like ${JSON.stringify(other)}, so that no agent can join under that name`,
    { hint: `did you mean ${other}?` },
  )
}

const isEmpty = ({ agents }: Directory): boolean => [...agents.keys()].every((name) => name === person)

function unknownRecipient(directory: Directory, name: string): MailboxError {
  const known = new Set([person, ...directory.agents.keys()])
  for (const agent of directory.agents.values()) for (const role of agent.roles) known.add(`role:${role}`)
  const near = namesNear(directory, name, [...known])
  return new MailboxError('unknown_recipient', `no agent named ${JSON.stringify(name)}`, {
    hint:
      near.length > 0
        ? `did you mean ${near.join(' or ')}? To keep the message until the agent joins, use --hold`
        : `${isEmpty(directory) ? 'no agent has joined yet; add one with `mailbox join NAME`' : 'see `mailbox agents`'}; to keep the message until the agent joins, use --hold`,
  })
}
