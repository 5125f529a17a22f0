import { nearest } from '../../../src/base/nearest.ts'
import { boxOfTag } from '../../../src/model/address.ts'
import type { RosterAgent } from '../data/types.ts'
import { boxOf, isTag } from './address.ts'
import type { Completion } from './completion.ts'
import { line, plural } from './text.ts'

type Known = Pick<RosterAgent, 'name' | 'state' | 'roles' | 'tags'>

/** The agents behind an address now. */
function behind(address: string, agents: readonly Known[]): string[] {
  const box = boxOf(address)
  const here = agents.filter(({ name, state }) => name !== 'user' && state !== 'dead')
  const has = ({ name, roles, tags }: Known): boolean => {
    if (box === 'all' || box === '*') return true
    if (box.startsWith('role:')) return roles.includes(box.slice('role:'.length))
    return isTag(box) ? tags.map(boxOfTag).includes(box) : name === box.replace(/^agent:/, '')
  }
  return here.filter(has).map(({ name }) => name)
}

/** What there is to say of an address beside it in a list. */
function aboutAddress(address: string, agents: readonly Known[]): string {
  const found = behind(address, agents).length
  if (address.startsWith('role:')) return plural(found, 'holder')
  if (isTag(address) || address === 'all') return plural(found, 'agent')
  return agents.find(({ name }) => name === address)?.state ?? ''
}

export const withAbout = (
  addresses: readonly string[],
  agents: readonly Known[],
): Pick<Completion, 'word' | 'about'>[] =>
  addresses.map((word) => ({ word, about: aboutAddress(word, agents) }))

export interface Reach {
  /** Whom it goes to now, in words. */
  text: string
  /** What is probably wrong. */
  problems: string[]
  /** Names that nobody has. */
  unknown: string[]
}

/** Whom a message would reach, and what about its addresses is probably a mistake. */
export function reachOf(to: readonly string[], agents: readonly Known[]): Reach {
  const problems: string[] = []
  const unknown: string[] = []
  const reached = new Set<string>()
  const roles = new Set<string>()
  const names = [...agents.map(({ name }) => name), ...new Set(agents.flatMap((agent) => agent.roles))]
  for (const address of to) {
    const found = behind(address, agents)
    if (address.startsWith('role:')) {
      roles.add(address)
      if (found.length === 0) problems.push(`Nobody has ${line(address)} now: it waits until somebody does.`)
    } else if (found.length > 0) for (const name of found) reached.add(name)
    else if (isTag(address)) problems.push(`No agent has the tag ${line(address)} now.`)
    else if (agents.some(({ name }) => name === address)) {
      // A dead agent, or the person.
      if (address !== 'user') problems.push(`${line(address)} is gone: it waits for its return.`)
    } else if (agents.some((agent) => agent.roles.includes(address))) roles.add(`role:${address}`)
    else {
      unknown.push(address)
      const [near] = nearest(address, names)
      problems.push(`Nobody is called ${line(address)}.${near === undefined ? '' : ` Did you mean ${near}?`}`)
    }
  }
  const some = reached.size > 3 ? [plural(reached.size, 'agent')] : [...reached].map(line)
  const all = [...some, ...[...roles].map((role) => `one holder of ${line(role)}`)]
  const isPlain = to.length === 1 && reached.has(to[0]!)
  const text = all.length > 1 ? `${all.slice(0, -1).join(', ')} and ${all.at(-1)}` : all.join('')
  return { text: text === '' || isPlain ? '' : `Reaches ${text}.`, problems, unknown }
}
