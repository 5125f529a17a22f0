import type { ChartMessage, ChartReceipt } from './types.ts'

/** One arrow of the diagram: from a lifeline to one or more others. */
export interface SequenceRow {
  message: ChartMessage
  /** Its number, starting at 1, and the number of the message it replies to. */
  number: number
  answers: number | undefined
  from: number
  /** The lifelines it reaches, nearest first, with its status for each. */
  heads: Head[]
  /** Sent to a tag or to all, not to a name. */
  fansOut: boolean
}

export interface Head {
  column: number
  mark: Mark | undefined
  /** The role it was claimed from. */
  role: string | undefined
}

export type Mark = 'seen' | 'working' | 'done' | 'failed' | 'lost'

export interface Sequence {
  columns: string[]
  rows: SequenceRow[]
}

const marks: Record<string, Mark> = {
  shown: 'seen',
  acked: 'seen',
  processing: 'working',
  completed: 'done',
  archived: 'done',
  failed: 'failed',
  expired: 'lost',
  dead: 'lost',
  withdrawn: 'lost',
}

export const markWords: Record<Mark, string> = {
  seen: 'read',
  working: 'in progress',
  done: 'done',
  failed: 'failed',
  lost: 'not delivered',
}

/** One lifeline for each sender and recipient, in order of appearance. */
export function sequenceOf(
  messages: readonly ChartMessage[],
  receipts: Readonly<Record<string, readonly ChartReceipt[]>> = {},
): Sequence {
  const columns: string[] = []
  const columnOf = (name: string): number => {
    const at = columns.indexOf(name)
    return at >= 0 ? at : columns.push(name) - 1
  }
  const numbers = new Map(messages.map(({ id }, at) => [id, at + 1]))
  const reached = messages.map((message) => {
    const from = columnOf(message.from)
    const known = receipts[message.id] ?? message.receipts ?? []
    return { message, from, targets: targetsOf(message, known, columnOf) }
  })
  const rows = reached.map(({ message, from, targets }, at) => {
    const fansOut = message.to.some(isGroup)
    // Nobody has received it yet, so it points at everybody in the picture.
    const heads =
      targets.length > 0 || !fansOut
        ? targets
        : columns.flatMap((_, column) =>
            column === from ? [] : [{ column, mark: undefined, role: undefined }],
          )
    heads.sort((a, b) => Math.abs(a.column - from) - Math.abs(b.column - from))
    const answers = message.replyTo === undefined ? undefined : numbers.get(message.replyTo)
    return { message, number: at + 1, answers, from, heads, fansOut }
  })
  return { columns, rows }
}

function targetsOf(
  message: ChartMessage,
  receipts: readonly ChartReceipt[],
  columnOf: (name: string) => number,
): Head[] {
  const heads = new Map<number, Head>()
  for (const { owner, box, state } of receipts) {
    // A group has no lifeline. A role has one until a holder takes the message.
    if (isGroup(box) || box === message.from) continue
    const role = owner.startsWith('role:') && box !== owner ? owner : undefined
    const column = columnOf(box)
    heads.set(column, { column, mark: marks[state], role })
  }
  for (const address of message.to) {
    if (isGroup(address)) continue
    const name = address.replace(/^agent:/, '')
    const taken = receipts.some(({ owner, box }) => owner === name || box === name)
    if (!taken && name !== message.from)
      heads.set(columnOf(name), { column: columnOf(name), mark: undefined, role: undefined })
  }
  return [...heads.values()]
}

/** An address for several mailboxes: `all`, a swarm, a tag. */
const isGroup = (address: string): boolean =>
  address === 'all' || address === '*' || (/^[^/:]+:/.test(address) && !/^(role|agent):/.test(address))
