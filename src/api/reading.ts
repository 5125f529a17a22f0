import * as z from 'zod/mini'
import type { Space } from '../space/api.ts'
import type { SpaceCore } from '../space/core.ts'
import type { DiskSpace } from '../space/space.ts'
import type { Survey } from '../space/survey.ts'
import { type Operation, rowOn, type Schema } from './operation.ts'
import * as s from './schemas.ts'

/** A token of an agent, without its secret. */
export interface TokenLine {
  name: string
  createdAt: string
  scopes: string[]
  expiresAt?: string
  lastUsedAt?: string
  /** Requests with it that were refused. */
  refused: number
}

/** A folder of another system that the space shares its mail with. */
export interface BridgeLine {
  id: string
  format: string
  path: string
  direction: string
  isRunning: boolean
  /** What runs it, such as `mailbox serve`. */
  process?: number
  where?: string
  /** The process has said nothing for so long. */
  silentForMs?: number
  /** Messages that both sides know. */
  linked: number
  problems: number
  /** How long messages take from there and to there: the median of the last ones. */
  inMs?: number
  outMs?: number
  lastProblem?: string
  /** Why it does not run. */
  error?: string
}

/** What only the hub and the process around it know. */
export interface Connections {
  tokens: TokenLine[]
  bridges: BridgeLine[]
}

/** What readings are answered from, and who asks. */
export interface Look {
  connections: () => Connections
  space: Pick<DiskSpace, keyof Space | 'mailboxOfRun'>
  core: SpaceCore
  survey: Survey
  caller: { agent: string }
  /** Whether the caller sees more than its own mail. */
  readsAll: boolean
  version: string
}

/** One reading of the space: `GET` with its input in the path and the query. */
export type Reading = Operation<Schema, Schema, unknown, Look> & {
  path: string
  /** It is about the mail of all, so only those may have it who read everything. @default false */
  ofAll?: boolean
}
export const reading = rowOn<Look, Pick<Reading, 'path' | 'ofAll'>>()

/** Queries are text. What is not a number stays text, and the schema refuses it. */
export const whole = z.exactOptional(
  z.pipe(
    z.transform((value: unknown) =>
      typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    s.count,
  ),
)
export const text = z.exactOptional(z.string())
export const page = { after: text, limit: whole }
export const nothing = z.strictObject({})
