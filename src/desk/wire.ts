import type { ErrorCode, Limit } from '../base/errors.ts'
import type { ProcessIdentity } from '../base/process.ts'

/** Thrown where a desk is in doubt, or does not answer: whoever asked does it by itself. */
export class GoDirect extends Error {}

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

/**
 * What a desk and those who ask it say to each other: JSON, one line each. The first question of a connection is
 * `hello`; a desk that is not meant for whoever asks answers `direct`, and so it does whenever it is in doubt.
 */
export interface Ask {
  /** Its number in this connection; the answer has the same. */
  n: number
  verb: string
  by?: Caller
  /** The id of the message that is sent, chosen by its sender. */
  id?: string
  /** Its sender has written no message with that id up to this entry. */
  since?: number
  /** Nothing is decided for it after this time, by the steady clock of the machine in ms: ids are remembered longer. */
  until: number
  args: readonly unknown[]
}

interface SaidError {
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

/** Until there is an answer: the desk has not stopped, and whoever asked goes on waiting. */
export interface Sign {
  n: number
  atWork: true
}

export const toLine = (said: Ask | Answer | Sign): string => `${JSON.stringify(said)}\n`
