import { actions } from '../conversation/registry.ts'
import { toSchema } from '../conversation/schema.ts'
import type { Operation } from './operation.ts'
import * as s from './schemas.ts'

/** The actions of the conversations, by their names: each says something typed to somebody. */
export const talkOperations: Readonly<Record<string, Operation>> = Object.fromEntries(
  actions.map(({ name, summary, input }) => [
    name,
    {
      summary,
      input: toSchema(input, { others: 'refused', own: { priority: s.priority } }),
      output: s.sentMessage,
    },
  ]),
)
