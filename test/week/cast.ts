import { Player } from './player.ts'
import type { World } from './world.ts'

/** Seven agents: a lead, three workers, a reviewer, one that runs the checks day and night, one on call. */
export const roster = [
  { name: 'lena', roles: ['lead'], tags: ['project:app'] },
  { name: 'wim', roles: ['worker'], tags: ['project:app'] },
  { name: 'wanda', roles: ['worker'], tags: ['project:app'] },
  { name: 'walt', roles: ['worker'], tags: ['project:docs'] },
  { name: 'rita', roles: ['reviewer'], tags: ['project:app'] },
  { name: 'cid', roles: ['ci'], tags: [] },
  { name: 'otto', roles: ['oncall', 'worker'], tags: ['project:app'] },
] as const

export type Name = (typeof roster)[number]['name']

/** Everybody, with the person. */
export class Cast {
  readonly world: World
  readonly agents: readonly Player[]
  readonly person: Player

  constructor(world: World) {
    this.world = world
    this.agents = roster.map(({ name }) => new Player(world, name))
    this.person = new Player(world, 'user')
  }

  get = (name: Name): Player => this.agents.find((agent) => agent.name === name)!
  get lead(): Player {
    return this.get('lena')
  }

  /** One of those who are at their desks, if any of them is. */
  awake(...names: Name[]): Player | undefined {
    const here = this.agents.filter(
      ({ name, isAwake }) => isAwake && (names.length === 0 || names.includes(name as Name)),
    )
    return here.length === 0 ? undefined : this.world.random.pick(here)
  }
}

export const workers = ['wim', 'wanda', 'walt', 'otto'] as const
