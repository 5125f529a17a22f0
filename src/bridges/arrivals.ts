import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { parseAddress } from '../model/address.ts'
import { person } from '../model/agent.ts'
import type { AgentFact, Fact } from './format.ts'
import type { Parts } from './parts.ts'

/** Who comes into the roster because it is in the folder. */
export class Arrivals {
  readonly #parts: Parts
  #known: Set<string> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Everybody who is named is in the roster, and gets its mail there from now on. */
  async joinAll(facts: readonly Fact[]): Promise<void> {
    for (const fact of facts) {
      if (fact.kind === 'agent') await this.#meet(fact)
      if (fact.kind !== 'copy') continue
      await this.#join(fact.letter.from)
      if (isAgent(fact.owner) && !fact.isForNobody) await this.#join(fact.owner)
    }
  }

  /** Somebody is there, or is there no more. */
  async #meet({ name, roles, tags, isHere = true }: AgentFact): Promise<void> {
    const { space, dry } = this.#parts
    const known = space.roster.get(name)
    const isOurs = known?.session.client === 'bridge' && !dry
    const isAway = known?.state === 'frozen' || known?.state === 'dead'
    if (isHere && isOurs && isAway) await space.join(name, { session: { client: 'bridge' } })
    if (isHere) await this.#join(name, roles, tags)
    else if (isOurs && !isAway) await space.leave(name, { frozen: true })
  }

  readonly #joined = new Set<string>()

  async #join(name: string, roles?: readonly string[], tags?: readonly string[]): Promise<void> {
    const { space, memory, format, path, tally, dry, report, again } = this.#parts
    const isPlain = roles === undefined && tags === undefined
    if (name === person || (isPlain && this.#joined.has(name))) return
    this.#known ??= new Set((await space.agents()).map((agent) => agent.name))
    try {
      if (!this.#known.has(name)) {
        tally.agents++
        if (dry) return void this.#joined.add(name)
        const note = `in ${format.name} ${path}`.slice(0, 200)
        const joined = { ...given({ roles, tags }), session: { client: 'bridge' }, note }
        await space.join(name, joined)
        this.#known.add(name)
      } else if (!isPlain && !dry) await this.#updateTags(name, roles ?? [], tags ?? [])
      this.#joined.add(name)
      if (!dry && memory.meet(name)) again()
    } catch (error) {
      if (!(error instanceof MailboxError)) throw error
      report({ place: name, reason: `cannot join: ${error.message}` })
    }
  }

  /** Tags that the other side has and this one does not. What is only here stays. */
  async #updateTags(name: string, roles: readonly string[], tags: readonly string[]): Promise<void> {
    const agent = this.#parts.space.roster.get(name)
    if (agent === undefined) return
    const addTags = tags.filter((tag) => !agent.tags.includes(tag))
    const addRoles = roles.filter((role) => !agent.roles.includes(role))
    if (addTags.length + addRoles.length > 0) await this.#parts.space.update(name, { addTags, addRoles })
  }
}

export const isAgent = (owner: string): boolean => {
  try {
    return parseAddress(owner).kind === 'agent'
  } catch {
    return false
  }
}
