import { describe, expect, test } from 'vitest'
import { decideSupersede, decideWithdraw } from '../../src/command/withdraw.ts'
import type { ReceiptState } from '../../src/model/receipt.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf } from '../helpers/samples.ts'
import { directMail, type Mail, mail, spaceOf, theMessage, viewOf } from './fake-view.ts'

const { id } = theMessage

describe('taking a message back', () => {
  // What has failed is its sender's to take back, though it was seen.
  test.each<ReceiptState>(['stored', 'notified', 'failed', 'expired', 'dead'])(
    'works while it is %s',
    (state) => {
      expect(decideWithdraw(directMail(state), 'bob', id)).toMatchObject([
        {
          step: 'withdrawn',
          by: 'bob',
          changes: [{ id, owner: 'ada', box: 'ada', was: state, state: 'withdrawn' }],
        },
      ])
    },
  )

  test.each<ReceiptState>(['shown', 'acked', 'processing', 'completed', 'archived'])(
    'is refused once it is %s',
    (state) => {
      const error = refusal(() => decideWithdraw(directMail(state), 'bob', id))
      expect(error).toMatchObject({ code: 'conflict', message: expect.stringContaining('seen by ada') })
    },
  )

  test.each<ReceiptState>(['stored', 'dead', 'expired'])(
    'is refused when it is %s and was seen before: what was read was said',
    (state) => {
      const view = viewOf({ agents: [agent('ada')], receipts: [{ owner: 'ada', state, seen: true }] })
      expect(refusal(() => decideWithdraw(view, 'bob', id)).code).toBe('conflict')
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

describe('replacing an earlier message', () => {
  const thread = { threadId: 't' }
  const replacement = { id: idOf(20), threadId: 't' }
  const supersede = (what: string | true, ...mails: Mail[]) =>
    decideSupersede(spaceOf([agent('ada'), agent('bob')], ...mails), 'bob', replacement, what)

  test('takes the last one of the thread back, with a note that names the new', () => {
    const { drafts, warnings } = supersede(
      true,
      mail(10, thread),
      mail(11, thread),
      mail(12, { threadId: 'u' }),
    )
    expect(drafts).toMatchObject([
      {
        step: 'withdrawn',
        by: 'bob',
        note: `superseded by ${idOf(20)}`,
        changes: [{ id: idOf(11), was: 'stored', state: 'withdrawn' }],
      },
    ])
    expect(warnings).toEqual([])
  })

  test('takes the one back that is named', () => {
    const { drafts } = supersede(idOf(10), mail(10, thread), mail(11, thread))
    expect(drafts).toMatchObject([{ changes: [{ id: idOf(10) }] }])
  })

  test('leaves the mail of others in the thread alone', () => {
    const { drafts } = supersede(true, mail(10, thread), mail(11, { ...thread, from: 'ada', to: ['bob'] }))
    expect(drafts).toMatchObject([{ changes: [{ id: idOf(10) }] }])
  })

  test.each<ReceiptState>(['shown', 'acked', 'processing', 'completed', 'archived'])(
    'leaves both when the earlier one is %s, and says so',
    (state) => {
      const { drafts, warnings } = supersede(true, mail(10, thread, { owner: 'ada', state }))
      expect(drafts).toEqual([])
      expect(warnings).toEqual([expect.stringContaining('seen by ada')])
    },
  )

  test('takes back what has failed', () => {
    const { drafts, warnings } = supersede(true, mail(10, thread, { owner: 'ada', state: 'failed' }))
    expect(drafts).toMatchObject([{ step: 'withdrawn', changes: [{ was: 'failed', state: 'withdrawn' }] }])
    expect(warnings).toEqual([])
  })

  test('that was taken back already changes nothing', () => {
    expect(supersede(true, mail(10, thread, { owner: 'ada', state: 'withdrawn' }))).toEqual({
      drafts: [],
      warnings: [],
    })
  })

  test('says that there is none, and lets the new one go', () => {
    expect(supersede(true)).toEqual({ drafts: [], warnings: [expect.stringContaining('no earlier message')] })
  })

  test('in another thread is refused, with the thread', () => {
    expect(refusal(() => supersede(idOf(10), mail(10, { threadId: 'u' })))).toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('--thread u'),
    })
  })

  test('of somebody else is refused', () => {
    expect(refusal(() => supersede(idOf(10), mail(10, { ...thread, from: 'cy' }))).code).toBe('not_permitted')
  })

  test('needs a message', () => {
    expect(refusal(() => supersede(idOf(99), mail(10, thread))).code).toBe('not_found')
  })
})
