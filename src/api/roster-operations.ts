import * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import type { JoinInput } from '../command/roster.ts'
import { joinFields } from './inputs.ts'
import { rosterOperation } from './operation.ts'
import * as s from './schemas.ts'

export const rosterOperations = {
  join: rosterOperation({
    summary: 'Start a new run of the agent, known or not',
    input: z.strictObject(joinFields),
    output: s.agent,
    run: ({ space, name }, input) => space.join(name, withHost(input)),
  }),
  open: rosterOperation({
    summary: 'Join unless the agent is already running; `join: false` fails if the agent is unknown',
    input: z.strictObject({
      join: z.exactOptional(z.union([z.literal(false), z.strictObject(joinFields)])),
    }),
    output: s.object('Opened', { name: s.text }),
    async run({ space, name }, { join = {} }) {
      await space.mailbox(name, { join: join === false ? false : { session: {}, ...withHost(join) } })
      return { name }
    },
  }),
}

/** A pid means something only on its own machine; without the host we would look for it on ours. */
function withHost(input: JoinInput): JoinInput {
  if (input.session?.pid === undefined || input.session.host !== undefined) return input
  throw new MailboxError('invalid', 'a pid needs its host', {
    hint: 'pass session.host and session.pidStart as well, or no pid',
  })
}
