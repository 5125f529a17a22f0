import { hostname } from 'node:os'
import { bootAndNamespace } from '../base/process.ts'

/** Changes with what is said, or how. */
const protocol = 2

declare const __VERSION__: string
/** From source, as in the tests, there is no version. */
const programVersion = typeof __VERSION__ === 'string' ? __VERSION__ : 'source'

/** Whoever differs in any of this decides differently, or signs with other keys, and does not ask. */
export interface Hello {
  protocol: number
  version: string
  /** The format of the journal. */
  format: number
  /** The machine, its boot and the set of processes: pids and the steady clock mean the same. */
  place: string
  /** The directory with the keys of the account. */
  config: string
  /** Where the journal is, and as which user, if it is in a database. */
  address?: string
  /** The text of the space's `config.json`, or the settings in effect in a process that stays. */
  settings: { file: string } | { inEffect: string }
}

/** What a desk tells whoever may ask. */
export interface Greeting {
  /** The journal had at least so many entries. */
  seq: number
  /** The time of the space. */
  now: number
}

/** How a process of this program introduces itself. */
export const helloWith = (
  config: string,
  format: number,
  settings: Hello['settings'],
  address: string | undefined,
): Hello => ({
  ...{ protocol, version: programVersion, format },
  place: `${hostname()} ${bootAndNamespace()}`,
  config,
  ...(address !== undefined && { address }),
  settings,
})
