import { actorsOf } from './acting.ts'
import type { SpaceCore } from './core.ts'
import { Vault } from './vault.ts'

/** The vault of a space: which keys it has to do with, and how it asks for them. */
export const vaultOf = (core: SpaceCore, readersOf: (seq: number) => string[] | undefined): Vault =>
  new Vault({
    space: core.journal.space,
    keyring: core.keyring,
    isOn: () => core.settings.encrypt === 'space',
    query: (work) => core.query(work),
    actors: () => actorsOf(core),
    readersOf,
    members: () => [...core.agents.values()].flatMap((one) => (one.state === 'dead' ? [] : one.name)),
    record: async (draft) => void (await core.record('directory', () => [draft])),
  })
