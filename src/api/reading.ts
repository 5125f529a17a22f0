import * as z from 'zod/mini'
import type { Space } from '../space/api.ts'
import type { SpaceCore } from '../space/core.ts'
import type { DiskSpace } from '../space/space.ts'
import type { Survey } from '../space/survey.ts'
import { type Operation, rowOn, type Schema } from './operation.ts'
import * as s from './schemas.ts'

/** What readings are answered from, and who asks. */
export interface Look {
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
