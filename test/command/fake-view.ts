import type { Context, View } from '../../src/command/context.ts'
import { boxOf } from '../../src/model/address.ts'
import type { Agent } from '../../src/model/agent.ts'
import { Directory } from '../../src/model/directory.ts'
import type { MessageFacts } from '../../src/model/reach.ts'
import type { Receipt, ReceiptState } from '../../src/model/receipt.ts'
import { agent, idOf, joined } from '../model/samples.ts'

export const now = Date.parse('2026-11-15T10:00:00.000Z')
export const minute = 60_000

/** A context in which it is ten o'clock and ids count from 1. */
export function context(at = now): Context {
  let next = 1
  return { now: at, newId: () => idOf(next++) }
}

export function directoryOf(...agents: Agent[]): Directory {
  const directory = new Directory()
  for (const [at, one] of agents.entries()) directory.fold(joined(at + 1, one))
  return directory
}

type ReceiptInput = Partial<Receipt> & { owner: string }

export interface Situation {
  agents: Agent[]
  message?: Partial<MessageFacts>
  receipts?: ReceiptInput[]
}

export const theMessage: MessageFacts = {
  seq: 10,
  id: idOf(10),
  sender: 'bob',
  rank: 1,
  expiresAt: null,
  excluded: [],
}

/** A space that holds one message, for decisions that need no disk. */
export function viewOf({ agents, message = {}, receipts = [] }: Situation): View {
  const facts = { ...theMessage, ...message }
  const rows = receipts.map((given) => receipt({ expiresAt: facts.expiresAt, ...given }))
  return {
    directory: directoryOf(...agents),
    message: (id) => (id === facts.id ? facts : undefined),
    receipts: (seq) => (seq === facts.seq ? rows : []),
    lapsed: () => [],
    keyed: () => undefined,
    nextOfRole: (role) => (rows.some(({ box }) => box === `role:${role}`) ? facts.id : undefined),
  }
}

function receipt(given: ReceiptInput): Receipt {
  return {
    seq: theMessage.seq,
    box: boxOf(given.owner),
    rank: 1,
    state: 'stored',
    attempts: 0,
    claimUntil: null,
    expiresAt: null,
    ...given,
  }
}

/** Ada has the message in this state. */
export const directMail = (state: ReceiptState, message: Partial<MessageFacts> = {}): View =>
  viewOf({ agents: [agent('ada'), agent('bob')], message, receipts: [{ owner: 'ada', state }] })
