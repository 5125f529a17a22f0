import * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import type { JoinInput } from '../command/roster.ts'
import { remoteSession } from '../model/client.ts'
import { mustBeGranted } from '../space/acting.ts'
import { content, joinFields, replyTo } from './inputs.ts'
import { rosterOperation } from './operation.ts'
import * as s from './schemas.ts'

export const rosterOperations = {
  join: rosterOperation({
    summary: 'Start a new run of the agent, known or not',
    input: z.strictObject(joinFields),
    output: s.agent,
    async run({ space, name }, input) {
      await mustBeGranted(space.core, name, input.roles, true)
      return space.join(name, fromElsewhere(input))
    },
  }),
  open: rosterOperation({
    summary: 'Join unless the agent is already running; `join: false` fails if the agent is unknown',
    input: z.strictObject({
      join: z.exactOptional(z.union([z.literal(false), z.strictObject(joinFields)])),
    }),
    output: s.object('Opened', { name: s.text }),
    async run({ space, name }, { join = {} }) {
      if (join !== false) await mustBeGranted(space.core, name, join.roles, true)
      await space.mailbox(name, { join: join === false ? false : fromElsewhere(join) })
      return { name }
    },
  }),
  endRun: rosterOperation({
    summary: 'End a run whose session is over: mail that it had taken for a role is free for others',
    input: z.strictObject({ frozen: z.boolean() }),
    output: s.agent,
    run: ({ space, name }, options) => space.endRun(name, options),
  }),
  testRoute: rosterOperation({
    summary: 'Get the routing rule that would take a message, and where it would go; sends nothing',
    reads: true,
    input: z.strictObject({ to: z.exactOptional(s.addresses), replyTo, ...content }),
    output: s.routeTest,
    run: ({ space, name }, input) => space.testRoute(name, input),
  }),
}

/**
 * How somebody joins over HTTP. A pid means something only on its own machine; without the host we would look for it on
 * ours. The session is marked, so that it is never taken for that of a client here, whatever it says of itself.
 */
function fromElsewhere(input: JoinInput): JoinInput {
  const { session = {} } = input
  if (session.pid !== undefined && session.host === undefined) {
    throw new MailboxError('invalid', 'a pid needs its host', {
      hint: 'pass session.host and session.pidStart as well, or no pid',
    })
  }
  return { ...input, session: remoteSession(session) }
}
