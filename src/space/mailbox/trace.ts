import { noteSpan } from '../../base/trace.ts'
import type { StoredMessage } from '../../query/message.ts'

/** What a span says of a message, by OpenTelemetry's conventions. */
export const traceOf = (operation: string, agent: string, destination: string) => ({
  'messaging.system': 'agent-mailbox',
  'messaging.operation.name': operation,
  'messaging.client.id': agent,
  'messaging.destination.name': destination,
})

/** A span for what was handed to an agent, linked to the traces of its senders. */
export function traceDelivery(agent: string, messages: readonly StoredMessage[]): void {
  if (messages.length === 0) return
  const links = messages.map(({ traceparent }) => traceparent)
  const attributes = {
    ...traceOf('receive', agent, agent),
    'messaging.batch.message_count': messages.length,
  }
  noteSpan({ name: `deliver ${agent}`, kind: 'consumer', attributes, links })
}
