import { describe, expect, test } from 'vitest'
import { decideResend } from '../../src/command/resend.ts'
import type { Message } from '../../src/model/message.ts'
import type { ReceiptState } from '../../src/model/receipt.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf } from '../helpers/samples.ts'
import { context, type Mail, mail, messagesIn, receiptsIn, spaceOf, withPolicy } from './fake-view.ts'

const agents = [agent('ada', { state: 'dead', gone: 'left' }), agent('bob'), agent('cy')]
const content: Partial<Message> = {
  subject: 'Plan',
  body: 'B',
  type: 'request',
  priority: 'high',
  payload: { a: 1 },
  context: { nextSteps: ['x'] },
  tags: ['project:p'],
  attachments: ['a.md'],
  swarm: 'dev',
  threadId: 'release-2',
  requiresAck: true,
  awaitingResponse: true,
}
const letter = (state: ReceiptState): Mail =>
  mail(10, { ...content, key: 'k', replyTo: idOf(5) }, { owner: 'ada', state })
const resend = (one: Mail, who = 'bob', to = 'cy') =>
  decideResend(spaceOf(agents, one), { agent: who, id: idOf(10), to }, context())

describe('sending a dead letter again', () => {
  test.each<ReceiptState>(['dead', 'expired'])('says the same to somebody else, once it is %s', (state) => {
    const [message] = messagesIn(resend(letter(state)).drafts)
    expect(message).toMatchObject({ ...content, id: idOf(1), from: 'bob', to: ['cy'] })
  })

  test('is a new message: the key, the answer and the run belonged to the old one', () => {
    const bound = mail(10, { key: 'k', replyTo: idOf(5), generation: 1 }, { owner: 'ada', state: 'dead' })
    const { message } = resend(bound).result
    expect(message).not.toHaveProperty('key')
    expect(message).not.toHaveProperty('replyTo')
    expect(message).not.toHaveProperty('generation')
  })

  test('puts the old one away, with a note that names the new', () => {
    expect(receiptsIn(resend(letter('expired')).drafts)).toEqual([
      {
        kind: 'receipt',
        step: 'archived',
        by: 'bob',
        note: `resent as ${idOf(1)}`,
        changes: [
          { id: idOf(10), seq: 10, rank: 2, owner: 'ada', box: 'ada', was: 'expired', state: 'archived' },
        ],
      },
    ])
  })

  test('puts away only what was dead', () => {
    const some = mail(
      10,
      { to: ['ada', 'cy'] },
      { owner: 'ada', state: 'dead' },
      { owner: 'cy', state: 'shown' },
    )
    expect(receiptsIn(resend(some).drafts).flatMap(({ changes }) => changes)).toMatchObject([
      { owner: 'ada' },
    ])
  })

  test.each<ReceiptState>([
    'stored',
    'notified',
    'shown',
    'acked',
    'processing',
    'completed',
    'failed',
    'archived',
    'withdrawn',
  ])('is refused while it is %s', (state) => {
    expect(refusal(() => resend(letter(state))).code).toBe('conflict')
  })

  test('is for its sender and the person', () => {
    expect(resend(letter('dead'), 'user').result.message.from).toBe('user')
    expect(refusal(() => resend(letter('dead'), 'cy'))).toMatchObject({
      code: 'not_permitted',
      hint: expect.stringContaining('bob'),
    })
  })

  test('needs its text: one that cannot be read, or for which there is no key, is not sent again', () => {
    const view = (fields: object) => {
      const space = spaceOf(agents, letter('dead'))
      return { ...space, text: (seq: number) => ({ ...space.text(seq), ...fields }) }
    }
    const again = (fields: object) =>
      decideResend(view(fields), { agent: 'bob', id: idOf(10), to: 'cy' }, context())
    expect(refusal(() => again({ unreadable: {} }))).toMatchObject({
      ...{ code: 'damaged', message: `message ${idOf(10)} could not be read, so it cannot be sent again` },
      hint: expect.stringContaining('mailbox repair'),
    })
    expect(refusal(() => again({ locked: true }))).toMatchObject({
      ...{
        code: 'not_permitted',
        message: `message ${idOf(10)} is encrypted, and there is no key for it here`,
      },
    })
    const encrypts = (fields: object) =>
      again(fields).drafts.some((draft) => 'encrypt' in draft && draft.encrypt === true)
    expect([{}, { encrypted: 'space' }, { encrypted: 'recipients' }].map(encrypts)).toEqual([
      false,
      false,
      true,
    ])
  })

  test('takes back what its sender was told and has not read, and nothing else', () => {
    const notice = (number: number, kind: string) =>
      mail(
        number,
        {
          ...{ from: 'system', to: ['bob'] },
          payload: { notice: kind, about: [{ id: idOf(10), to: 'ada', kind, reason: 'r' }] },
        },
        { owner: 'bob' },
      )
    const view = spaceOf(agents, letter('dead'), notice(20, 'undelivered'), notice(21, 'unread'))
    const { drafts } = decideResend(view, { agent: 'bob', id: idOf(10), to: 'cy' }, context())
    const withdrawn = receiptsIn(drafts).filter(({ step }) => step === 'withdrawn')
    expect(withdrawn.flatMap(({ changes }) => changes.map(({ seq }) => seq))).toEqual([20])
  })

  test('needs a recipient somebody knows, and puts nothing away without one', () => {
    expect(refusal(() => resend(letter('dead'), 'bob', 'zoe')).code).toBe('unknown_recipient')
  })

  test('needs a message', () => {
    const view = spaceOf(agents)
    expect(refusal(() => decideResend(view, { agent: 'bob', id: idOf(99), to: 'cy' }, context())).code).toBe(
      'not_found',
    )
  })

  test('goes by the rules and limits of the space like any other', () => {
    const command = { agent: 'bob', id: idOf(10), to: 'cy' }
    const view = spaceOf(agents, letter('dead'))
    expect(refusal(() => decideResend(view, command, withPolicy({ rules: 'hub' }))).code).toBe(
      'not_permitted',
    )
  })
})
