import { describe, expect, test } from 'vitest'
import { decideWithdraw } from '../../src/command/withdraw.ts'
import type { ReceiptState } from '../../src/model/receipt.ts'
import { agent, idOf } from '../model/samples.ts'
import { directMail, theMessage, viewOf } from './fake-view.ts'
import { refusal } from './refusal.ts'

const { id } = theMessage

describe('taking a message back', () => {
  test.each<ReceiptState>(['stored', 'notified', 'expired'])('works while it is %s', (state) => {
    expect(decideWithdraw(directMail(state), 'bob', id)).toMatchObject([
      {
        step: 'withdrawn',
        by: 'bob',
        changes: [{ id, owner: 'ada', box: 'ada', was: state, state: 'withdrawn' }],
      },
    ])
  })

  test.each<ReceiptState>(['shown', 'acked', 'processing', 'completed', 'failed', 'archived', 'dead'])(
    'is refused once it is %s',
    (state) => {
      const error = refusal(() => decideWithdraw(directMail(state), 'bob', id))
      expect(error).toMatchObject({ code: 'conflict', message: expect.stringContaining(state) })
    },
  )

  test('twice is no error', () => {
    expect(decideWithdraw(directMail('withdrawn'), 'bob', id)).toEqual([])
  })

  test('takes back every copy, in one entry', () => {
    const view = viewOf({
      agents: [agent('ada')],
      receipts: [{ owner: 'ada' }, { owner: 'role:x' }, { owner: 'all' }],
    })
    const [draft, ...rest] = decideWithdraw(view, 'bob', id)
    expect(draft?.changes.map(({ owner, state }) => [owner, state])).toEqual([
      ['ada', 'withdrawn'],
      ['role:x', 'withdrawn'],
      ['all', 'withdrawn'],
    ])
    expect(rest).toEqual([])
  })

  test('is refused when one of many has seen it', () => {
    const view = viewOf({
      agents: [agent('ada')],
      receipts: [{ owner: 'all' }, { owner: 'cy', state: 'notified' }, { owner: 'ada', state: 'shown' }],
    })
    expect(refusal(() => decideWithdraw(view, 'bob', id))).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('ada'),
    })
  })

  test('is for its sender alone', () => {
    const error = refusal(() => decideWithdraw(directMail('stored'), 'ada', id))
    expect(error).toMatchObject({ code: 'not_permitted', hint: expect.stringContaining('bob') })
  })

  test('needs a message', () => {
    expect(refusal(() => decideWithdraw(directMail('stored'), 'bob', idOf(99))).code).toBe('not_found')
  })
})
