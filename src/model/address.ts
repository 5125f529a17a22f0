import { MailboxError } from '../base/errors.ts'
import { checkName } from './name.ts'

/**
 * What `to` accepts. An address is written as text and kept as text; this file is the only one that
 * takes it apart.
 *
 * - `ada`, `agent:ada`: that agent
 * - `role:architect`: one holder of the role, now or later
 * - `project:x` and any other `ns:value`: every agent tagged so when it reads
 * - `all`, `*`: every agent
 * - `broadcast:x`: the members of `swarm:x`, with the short life of a broadcast
 */
export type Address =
  | { kind: 'agent'; name: string }
  | { kind: 'role'; name: string }
  | { kind: 'tag'; tag: string; broadcast: boolean }
  | { kind: 'all' }

const hourMs = 3_600_000

/** How long mail lives when its sender does not say; role mail waits for a holder however long it takes. */
const defaultLifeMs = { agent: 24 * hourMs, role: null, tag: 24 * hourMs, all: 4 * hourMs } as const

/** Prefixes of addresses that are no tags. */
const notTags = ['role', 'agent', 'broadcast']
const namespacePattern = /^[a-z][a-z0-9_-]{0,31}$/

/** Parses one written address. A bare name is taken for an agent; the roster decides later. */
export function parseAddress(text: string): Address {
  if (text === 'all' || text === '*') return { kind: 'all' }
  const colon = text.indexOf(':')
  if (colon < 0) return { kind: 'agent', name: checkName(text, 'address') }
  const namespace = text.slice(0, colon)
  const value = text.slice(colon + 1)
  if (namespace === 'agent') return { kind: 'agent', name: checkName(value, 'agent name') }
  if (namespace === 'role') return { kind: 'role', name: checkName(value, 'role') }
  if (namespace === 'broadcast') {
    return { kind: 'tag', tag: `swarm:${checkName(value, 'swarm')}`, broadcast: true }
  }
  return { kind: 'tag', tag: checkTag(text), broadcast: false }
}

/** Checks a namespaced label such as `project:inscription`. */
export function checkTag(tag: string): string {
  const colon = tag.indexOf(':')
  const namespace = tag.slice(0, Math.max(0, colon))
  if (!namespacePattern.test(namespace) || notTags.includes(namespace)) {
    throw new MailboxError('invalid', `${JSON.stringify(tag.slice(0, 60))} is not a tag`, {
      hint: 'a tag is NAMESPACE:VALUE, such as project:inscription or concern:governance',
    })
  }
  checkName(tag.slice(colon + 1), 'tag value')
  return tag
}

/** The one spelling in which an address is stored and compared. */
export function writeAddress(address: Address): string {
  switch (address.kind) {
    case 'agent':
      return address.name
    case 'role':
      return `role:${address.name}`
    case 'all':
      return 'all'
    case 'tag':
      return address.broadcast ? `broadcast:${address.tag.slice('swarm:'.length)}` : address.tag
  }
}

/**
 * The box in which mail to a stored address waits. Agents and roles have boxes of their own; everybody
 * with the tag reads a group's box. `broadcast:x` waits in the box of `swarm:x`.
 */
export function boxOf(stored: string): string {
  if (stored.startsWith('broadcast:')) return `swarm:${stored.slice('broadcast:'.length)}`
  return stored
}

/** The boxes of a message's addresses, each once. */
export function boxesTo(to: readonly string[]): string[] {
  return to.length === 1 ? [boxOf(to[0]!)] : [...new Set(to.map(boxOf))]
}

/** True for a box that many read (tags, `all`), false for one that belongs to an agent or a role. */
export function isGroupBox(box: string): boolean {
  return box === 'all' || (box.includes(':') && !box.startsWith('role:'))
}

/** The life of mail to these addresses: the longest of them, `null` when one of them waits for ever. */
export function defaultLife(addresses: readonly Address[]): number | null {
  let longest = 0
  for (const address of addresses) {
    const short = address.kind === 'tag' && address.broadcast
    const life = short ? defaultLifeMs.all : defaultLifeMs[address.kind]
    if (life === null) return null
    longest = Math.max(longest, life)
  }
  return longest
}
