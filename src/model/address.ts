import { MailboxError } from '../base/errors.ts'
import { person } from './agent.ts'
import { checkLabel, checkName } from './name.ts'

/**
 * What `to` accepts. Addresses are given and stored as text; only this file parses them.
 *
 * - `ada`, `agent:ada`: that agent
 * - `role:architect`: one agent with the role, now or later
 * - `project:x` and any other `ns:value`: every agent that has the tag when it reads
 * - `tag:handoff`: every agent that has the tag `handoff`, which alone would be the name of an agent or a role
 * - `all`, `*`: every agent
 * - `broadcast:x`: the members of `swarm:x`, with the short life of a broadcast
 */
export type Address =
  | { kind: 'agent'; name: string }
  | { kind: 'role'; name: string }
  | { kind: 'tag'; tag: string; broadcast: boolean }
  | { kind: 'all' }

const hourMs = 3_600_000

/** Default time to live. Mail to a role waits until an agent takes it, mail to the person until it is read. */
const defaultLifeMs = { agent: 24 * hourMs, role: null, tag: 24 * hourMs, all: 4 * hourMs } as const

/** Address prefixes that are not tags. */
const notTags = ['role', 'agent', 'broadcast']
const namespacePattern = /^[a-z][a-z0-9_-]{0,31}$/

/** Parses an address. A bare name is assumed to be an agent; the roster decides later. */
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
  return { kind: 'tag', tag: boxOfTag(checkTag(text)), broadcast: false }
}

/**
 * Checks a label, and returns it as it is kept: a word such as `handoff`, which `tag:handoff` is too, or
 * `project:inscription`.
 */
export function checkTag(tag: string): string {
  const label = tagLabel(tag)
  const colon = label.indexOf(':')
  if (colon < 0) return checkLabel(label, 'tag')
  const namespace = label.slice(0, colon)
  const isAddress = notTags.includes(namespace)
  if (isAddress || !namespacePattern.test(namespace)) {
    const tags = 'a tag is a word such as handoff, or NAMESPACE:VALUE such as project:inscription'
    throw new MailboxError('invalid', `${JSON.stringify(tag.slice(0, 60))} is not a tag`, {
      hint: isAddress ? `it is an address: use it as a recipient, or as a role: --role NAME; ${tags}` : tags,
    })
  }
  checkName(label.slice(colon + 1), 'tag value')
  return label
}

const wordPrefix = 'tag:'

/** A tag as it is kept: `tag:handoff` is `handoff`. */
export const tagLabel = (tag: string): string =>
  tag.startsWith(wordPrefix) ? tag.slice(wordPrefix.length) : tag

/** The address that reaches the holders of a tag, which is also their box: a word alone would be a name. */
export const boxOfTag = (tag: string): string => (tag.includes(':') ? tag : `${wordPrefix}${tag}`)

/** Whether a message has a tag, or is addressed to it. */
export const hasTag = (message: { tags: readonly string[]; to: readonly string[] }, tag: string): boolean =>
  message.tags.includes(tagLabel(tag)) || message.to.some((to) => boxOf(to) === boxOfTag(tag))

/** The canonical form in which an address is stored and compared. */
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
 * The box that holds mail to a stored address. Each agent and role has its own box; a group's box is read by
 * every agent with the tag. `broadcast:x` uses the box of `swarm:x`.
 */
export function boxOf(stored: string): string {
  if (stored.startsWith('broadcast:')) return `swarm:${stored.slice('broadcast:'.length)}`
  return stored
}

/** The boxes of a message's addresses, without duplicates. */
export function boxesTo(to: readonly string[]): string[] {
  return to.length === 1 ? [boxOf(to[0]!)] : [...new Set(to.map(boxOf))]
}

/** True for a box that many read (tags, `all`), false for one that belongs to an agent or a role. */
export function isGroupBox(box: string): boolean {
  return box === 'all' || (box.includes(':') && !box.startsWith('role:'))
}

/** True for the box of one agent. */
export const isAgentBox = (box: string): boolean => box !== 'all' && !box.includes(':')

/** The default time to live of mail to these addresses: the longest one, or `null` if one never expires. */
export function defaultLife(addresses: readonly Address[]): number | null {
  let longest = 0
  for (const address of addresses) {
    const short = address.kind === 'tag' && address.broadcast
    const isPersons = address.kind === 'agent' && address.name === person
    const life = isPersons ? null : short ? defaultLifeMs.all : defaultLifeMs[address.kind]
    if (life === null) return null
    longest = Math.max(longest, life)
  }
  return longest
}
