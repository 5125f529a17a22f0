import type { Agent } from '../../src/model/agent.ts'
import type { Entry } from '../../src/model/entry.ts'
import type { Message } from '../../src/model/message.ts'
import type { ReceiptChange } from '../../src/model/receipt.ts'

export const sampleTime = '2026-11-15T09:30:00.000Z'

/** A plain message from bob to ada and the architects, with whatever a test cares about. */
export function message(fields: Partial<Message> = {}): Message {
  const id = fields.id ?? idOf(1)
  return {
    id,
    from: 'bob',
    to: ['ada', 'role:architect'],
    type: 'text',
    priority: 'normal',
    createdAt: sampleTime,
    threadId: id,
    requiresAck: false,
    awaitingResponse: false,
    tags: [],
    attachments: [],
    subject: 'Plan',
    body: 'hi',
    ...fields,
  }
}

/** A well-formed id that tells its number. */
export const idOf = (number: number): string => `019a8000-0000-7000-8000-${String(number).padStart(12, '0')}`

export function agent(name: string, fields: Partial<Agent> = {}): Agent {
  return {
    name,
    state: 'alive',
    roles: [],
    tags: [],
    session: { generation: 1, startedAt: sampleTime },
    lastSeenAt: sampleTime,
    ...fields,
  }
}

export const joined = (seq: number, who: Agent): Entry => ({
  seq,
  at: sampleTime,
  kind: 'agent',
  change: 'joined',
  by: who.name,
  agent: who,
})

export const sent = (seq: number, fields: Partial<Message> = {}): Entry => ({
  seq,
  at: sampleTime,
  kind: 'message',
  message: message({ id: idOf(seq), ...fields }),
})

export function moved(
  seq: number,
  change: Partial<ReceiptChange> & Pick<ReceiptChange, 'seq' | 'state'>,
): Entry {
  const owner = change.owner ?? 'ada'
  const full: ReceiptChange = { id: idOf(change.seq), rank: 1, owner, box: owner, ...change }
  return { seq, at: sampleTime, kind: 'receipt', step: 'shown', by: 'ada', changes: [full] }
}
