import { describe, expect, test } from 'vitest'
import {
  classOf,
  finishes,
  isAcked,
  isDeadLetter,
  type Receipt,
  type ReceiptChange,
  type ReceiptState,
  receiptStates,
  showsFirst,
  stateNow,
} from '../../src/model/receipt.ts'

const change = (state: ReceiptState, was?: ReceiptState) => ({ state, was }) as ReceiptChange
const receipt = (state: ReceiptState, expiresAt: number | null) => ({ state, expiresAt }) as Receipt

test('every state is unread, open or closed', () => {
  expect(Object.fromEntries(receiptStates.map((state) => [state, classOf(state)]))).toEqual({
    ...{ stored: 'unread', notified: 'unread' },
    ...{ shown: 'open', acked: 'open', processing: 'open', failed: 'open' },
    ...{ completed: 'closed', archived: 'closed', expired: 'closed', dead: 'closed', withdrawn: 'closed' },
  })
})

test('what was acknowledged, and what reaches nobody', () => {
  expect(receiptStates.filter(isAcked)).toEqual(['acked', 'processing', 'completed', 'failed', 'archived'])
  expect(receiptStates.filter(isDeadLetter)).toEqual(['expired', 'dead'])
})

describe('a recipient sees a message for the first time', () => {
  test('when it was unread and is seen now', () => {
    const first = receiptStates.filter((state) => showsFirst(change(state, 'stored')))
    expect(first).toEqual(['shown', 'acked', 'processing', 'completed', 'failed', 'archived'])
    expect(showsFirst(change('shown', 'notified'))).toBe(true)
    expect(showsFirst(change('acked', 'shown'))).toBe(false)
  })

  test('also when it is group mail without a receipt so far', () => {
    expect(showsFirst(change('shown'))).toBe(true)
    expect(showsFirst(change('notified'))).toBe(false)
  })
})

test('a message is finished once', () => {
  expect(receiptStates.filter((state) => finishes(change(state, 'shown')))).toEqual(['completed', 'archived'])
  const again = receiptStates.filter((was) => !finishes(change('archived', was)))
  expect(again).toEqual(['completed', 'archived'])
  expect(finishes(change('archived'))).toBe(true)
})

test('unread mail past its time has expired; what was seen has not', () => {
  const states = (state: ReceiptState) => [null, 9, 10, 11].map((at) => stateNow(receipt(state, at), 10))
  expect(states('stored')).toEqual(['stored', 'expired', 'expired', 'stored'])
  expect(states('shown')).toEqual(['shown', 'shown', 'shown', 'shown'])
})
