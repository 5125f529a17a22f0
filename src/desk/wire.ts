import { hostname } from 'node:os'
import type { ErrorCode, Limit } from '../base/errors.ts'
import { bootAndNamespace, type ProcessIdentity } from '../base/process.ts'

/**
 * What a desk and those who ask it say to each other: JSON, one line each. The first question of a connection is
 * `hello`; a desk that is not meant for whoever asks answers `direct`, and so it does whenever it is in doubt.
 */
const protocol = 1

declare const __VERSION__: string
/** From source, as in the tests, there is no version. */
const programVersion = typeof __VERSION__ === 'string' ? __VERSION__ : 'source'

/** Thrown where a desk is in doubt, or does not answer: whoever asked does it by itself. */
export class GoDirect extends Error {}

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
export const helloWith = (config: string, format: number, settings: Hello['settings']): Hello => ({
  ...{ protocol, version: programVersion, format },
  place: `${hostname()} ${bootAndNamespace()}`,
  config,
  settings,
})

/** Who asks. */
export interface Caller {
  /** The agent; undefined if the caller has not said who acts. */
  name?: string | undefined
  /** Its process: what it does shows that it is there. */
  pid: number
  /** The processes above it, for a command: they decide whom it may act for. A mailbox that is open was admitted before. */
  above?: readonly ProcessIdentity[]
  /** Its wall clock, for a command: it may be wrong. */
  at?: number
}

export interface Ask {
  /** Its number in this connection; the answer has the same. */
  n: number
  verb: string
  by?: Caller
  /** The id of the message that is sent, chosen by its sender. */
  id?: string
  /** Nothing is decided for it after this time, by the steady clock of the machine in ms: ids are remembered longer. */
  until: number
  args: readonly unknown[]
}

export interface SaidError {
  code: ErrorCode
  message: string
  hint?: string | undefined
  limit?: Limit | undefined
}

export type Answer = { n: number } & (
  | { value: unknown /** Nobody else has asked lately: the direct way is free. */; alone?: true }
  | { error: SaidError }
  | { direct: string }
)

export const toLine = (said: Ask | Answer): string => `${JSON.stringify(said)}\n`

/** No message is that long. */
const longestLine = 256 * 1_048_576

/** Puts lines together from what a socket delivers. */
export class LineReader {
  #rest: string[] = []
  #length = 0

  /** The lines that are complete now. Throws when one is longer than any can be. */
  push(chunk: string): string[] {
    let end = chunk.lastIndexOf('\n')
    if (end < 0) {
      this.#rest.push(chunk)
      this.#length += chunk.length
      if (this.#length > longestLine) throw new Error('the line is too long')
      return []
    }
    const whole = this.#rest.join('') + chunk.slice(0, end)
    this.#rest = end + 1 < chunk.length ? [chunk.slice(end + 1)] : []
    this.#length = this.#rest[0]?.length ?? 0
    end = whole.indexOf('\n')
    return end < 0 ? [whole] : whole.split('\n')
  }
}
