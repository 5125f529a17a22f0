import { MailboxError } from '../base/errors.ts'
import { type Address, parseAddress } from '../model/address.ts'
import { person, systemAgent } from '../model/agent.ts'
import type { Directory } from '../model/directory.ts'

export interface Resolved {
  addresses: Address[]
  /** What the sender should know although the mail was accepted. */
  warnings: string[]
}

/**
 * Resolves the recipients of a message. A bare name is an agent, or a role if no agent has that name. An unknown name
 * is rejected with the closest matches, unless the sender wants the mail held for an agent that has not joined yet.
 */
export function resolveAddresses(directory: Directory, written: readonly string[], hold: boolean): Resolved {
  const addresses: Address[] = []
  const warnings: string[] = []
  for (const text of written) {
    // Most mail goes to a known agent, whose name needs no check.
    const known = directory.agents.get(text)
    if (known !== undefined) {
      if (known.state === 'dead')
        warnings.push(`${text} is gone; unless it returns, this message becomes a dead letter`)
      if (known.state === 'frozen') warnings.push(`${text} is frozen; the message waits`)
      addresses.push({ kind: 'agent', name: text })
      continue
    }
    const address = resolveBare(directory, parseAddress(text), text)
    if (address.kind === 'agent' && address.name === systemAgent) {
      throw new MailboxError('not_permitted', 'the system cannot receive mail', {
        hint: 'write to an agent, a role or user',
      })
    }
    if (address.kind === 'agent' && !isAgent(directory, address.name)) {
      if (!hold) throw unknownRecipient(directory, address.name)
      warnings.push(`${address.name} has not joined yet; the message waits`)
    }
    if (address.kind === 'role' && !directory.isHeld(address.name)) {
      warnings.push(`no agent has the role ${address.name} now; the message waits for one`)
    }
    if (address.kind === 'tag' && !directory.isTagged(address.tag)) {
      warnings.push(`no agent has the tag ${address.tag} now; the message waits until it expires`)
    }
    addresses.push(address)
  }
  return { addresses, warnings }
}

const isAgent = (directory: Directory, name: string) => name === person || directory.agents.has(name)

function resolveBare(directory: Directory, address: Address, written: string): Address {
  const bare = address.kind === 'agent' && !written.startsWith('agent:')
  if (!bare || isAgent(directory, address.name) || !directory.knowsRole(address.name)) return address
  return { kind: 'role', name: address.name }
}

function unknownRecipient(directory: Directory, name: string): MailboxError {
  const known = new Set([person, ...directory.agents.keys()])
  for (const agent of directory.agents.values()) for (const role of agent.roles) known.add(`role:${role}`)
  const near = nearest(name, [...known])
  return new MailboxError('unknown_recipient', `no agent named ${JSON.stringify(name)}`, {
    hint:
      near.length > 0
        ? `did you mean ${near.join(' or ')}? To keep the message until the agent joins, use --hold`
        : 'see `mailbox agents`; to keep the message until the agent joins, use --hold',
  })
}

/** Up to three names that a typo could have meant; part of a name will do where it has four letters or more. */
export function nearest(name: string, candidates: readonly string[]): string[] {
  const wanted = name.toLowerCase()
  return candidates
    .map((candidate) => {
      const bare = candidate.replace(/^role:/, '').toLowerCase()
      const inside = bare.includes(wanted) || wanted.includes(bare)
      return {
        candidate,
        distance: Math.min(editDistance(wanted, bare), inside ? 1.5 : Number.POSITIVE_INFINITY),
      }
    })
    .filter(({ distance }) => distance <= Math.max(1, Math.min(3, Math.floor(wanted.length / 2))))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) best = Math.min(best, rows[i - 2]![j - 2]! + 1)
      row.push(best)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
