import { buildMessage } from '../command/build-message.ts'
import { recipientsOf } from '../command/check-send.ts'
import { resolveAddresses } from '../command/resolve.ts'
import { findRoute } from '../command/route.ts'
import { writeAddress } from '../model/address.ts'
import { checkFields } from '../model/check-fields.ts'
import type { SendInput } from '../model/fields.ts'
import type { Priority } from '../model/message.ts'
import { type Route, targetsOf } from '../model/routes.ts'
import type { SpaceCore } from './core.ts'

/** What the routing rules of a space would do with a message. */
export interface RouteTest {
  /** The rule that takes it, from 1 on, and its conditions. Null if no rule changes anything. */
  rule: number | null
  when: string | null
  /** Who it is sent to, and who would get it. */
  sentTo: string[]
  to: string[]
  priority: Priority
  warnings: string[]
}

/** Decides on the recipients of a message exactly as sending it would, and sends nothing. */
export function testRoute(core: SpaceCore, from: string, input: Partial<SendInput>): Promise<RouteTest> {
  checkFields(input)
  return core.query((source) => {
    const { context } = core
    const { directory } = core.viewOf(source)
    const resolved = resolveAddresses(directory, recipientsOf({ to: [], ...input }), input.hold ?? false)
    const parent = input.replyTo === undefined ? undefined : { id: input.replyTo, threadId: input.replyTo }
    const written = buildMessage({ from, input: { to: [], ...input }, parent }, resolved.addresses, context)
    const route = findRoute(directory, written, input, resolved, context)
    const { addresses, warnings } = route ?? resolved
    return {
      ...{ rule: route?.routed.rule ?? null, when: route?.routed.when ?? null },
      ...{ sentTo: written.to, to: addresses.map(writeAddress) },
      ...{ priority: route?.priority ?? written.priority, warnings },
    }
  })
}

/** What whoever adds a rule should know about the addresses that it names. */
export const warningsFor = (core: SpaceCore, route: Route): Promise<string[]> =>
  core.query((source) => resolveAddresses(core.viewOf(source).directory, targetsOf(route), true).warnings)
