import { say } from '../agent/say.ts'
import { allActions } from '../conversation/registry.ts'
import { toSchema } from '../conversation/schema.ts'
import type { Operation } from './operation.ts'
import * as s from './schemas.ts'

/** The actions of the conversations, by their names. Each sends one typed message. */
export const talkOperations: Readonly<Record<string, Operation>> = Object.fromEntries(
  allActions().map((action): [string, Operation] => [
    action.name,
    {
      summary: action.summary,
      input: toSchema(action.input, { others: 'refused', own: { priority: s.priorityInput } }),
      output: s.sentMessage,
      run: (mailbox, input) => say(mailbox, action, input as object),
    },
  ]),
)
