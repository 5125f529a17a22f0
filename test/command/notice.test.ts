import { describe, expect, test } from 'vitest'
import { LetterChanges } from '../../src/command/due/letter-changes.ts'
import { endOffers } from '../../src/command/due/offers.ts'
import { notices, type Told } from '../../src/command/notice.ts'
import { decideSend } from '../../src/command/send.ts'
import type { NoticeKind } from '../../src/conversation/notice.ts'
import type { Letter, View } from '../../src/conversation/view.ts'
import type { SendInput } from '../../src/model/fields.ts'
import { escalation } from '../../src/model/receipt.ts'
import type { Settings } from '../../src/model/settings.ts'
import { agent, idOf } from '../helpers/samples.ts'
import {
  context,
  hour,
  iso,
  type Mail,
  mail,
  messagesIn,
  minute,
  now,
  receiptsIn,
  spaceOf,
} from './fake-view.ts'

const team = [agent('ada'), agent('bob'), agent('cy'), agent('lea', { roles: ['lead'] })]
const day = 24 * hour

/** Mail from ada to these. */
const from = (number: number, ...to: string[]): Mail => mail(number, { from: 'ada', to })
function letterOf({ facts, receipts }: Mail, owner = receipts[0]!.owner): Letter {
  return { ...receipts.find((one) => one.owner === owner)!, id: facts.id }
}
const telling = (to: string, kind: NoticeKind, letter: Letter): Told => ({
  ...{ to, kind, letter },
  reason: `reason ${letter.seq}`,
})

describe('a notice', () => {
  const [one, two] = [from(1, 'bob'), from(2, 'bob')]
  const view = spaceOf(team, one, two)
  const told = (to: string, kind: NoticeKind, ...mails: Mail[]) =>
    messagesIn(
      notices(
        view,
        mails.map((each) => telling(to, kind, letterOf(each))),
        context(),
      ),
    )

  test.each<[NoticeKind, string, string, string]>([
    ['unread', 'escalation', 'urgent', 'mailbox show'],
    ['ack', 'escalation', 'high', 'mailbox show'],
    ['answer', 'escalation', 'high', 'mailbox show'],
    ['deadline', 'notification', 'high', 'mailbox show'],
    ['undelivered', 'error', 'normal', 'mailbox dead --resend'],
    ['waiting', 'notification', 'normal', 'mailbox show'],
    ['ended', 'notification', 'normal', 'mailbox show'],
  ])('of kind %s says of whom, of how many, and what to do', (kind, type, priority, command) => {
    const level = type === 'escalation' ? { level: escalation.lead } : {}
    const itemOf = (n: number) => ({ id: idOf(n), to: 'bob', kind, reason: `reason ${n}` })
    const single = told('lea', kind, one)
    expect(single).toMatchObject([
      {
        ...{ from: 'system', to: ['lea'], type, priority, replyTo: idOf(1), threadId: idOf(1) },
        subject: expect.stringContaining('bob'),
        body: expect.stringContaining(`${command} ${idOf(1)}`),
      },
    ])
    expect(single[0]!.body).toContain(`Message ${idOf(1)} from ada to bob was sent 30 min ago: reason 1.`)
    expect(single[0]!.payload).toEqual({
      ...{ notice: kind, about: [itemOf(1)], id: idOf(1), recipient: 'bob', reason: 'reason 1', ...level },
      ...(kind === 'undelivered' ? { undelivered: [itemOf(1)] } : {}),
    })
    const both = told('lea', kind, one, two)
    expect(both).toHaveLength(1)
    expect(both[0]!.subject).toContain('2')
    if (kind !== 'undelivered') expect(both[0]!.subject).toContain('bob')
    expect(both[0]!.body).toBe(
      `- ${idOf(1)} to bob: reason 1\n- ${idOf(2)} to bob: reason 2\n\n${both[0]!.body.split('\n').at(-1)}`,
    )
    expect(both[0]!.body).toContain(`${command} ID`)
    expect(both[0]).not.toHaveProperty('replyTo')
    expect(both[0]!.payload).toEqual({
      ...{ notice: kind, about: [itemOf(1), itemOf(2)], ...level },
      ...(kind === 'undelivered' ? { undelivered: [itemOf(1), itemOf(2)] } : {}),
    })
  })

  test('is one for each reason and recipient, and for the person one for everything', () => {
    const [third, wide] = [from(3, 'cy'), from(4, 'cy')]
    const all = spaceOf(team, one, two, third, wide)
    const say = (to: string, kinds: NoticeKind[]) =>
      messagesIn(
        notices(
          all,
          [one, two, third, wide].map((each, at) => telling(to, kinds[at]!, letterOf(each))),
          context(),
        ),
      ).map(({ payload }) => {
        const { notice, about } = payload as { notice: string; about: { to: string }[] }
        return `${notice} ${about.map(({ to: whose }) => whose).join(' ')}`
      })
    const same: NoticeKind[] = ['ack', 'ack', 'ack', 'ack']
    expect(say('lea', same)).toEqual(['ack bob bob', 'ack cy cy'])
    expect(say('lea', ['ack', 'unread', 'ack', 'ack'])).toEqual(['ack bob', 'unread bob', 'ack cy cy'])
    expect(say('user', same)).toEqual(['several bob bob cy cy'])
    expect(say('lea', ['undelivered', 'undelivered', 'undelivered', 'undelivered'])).toEqual([
      'undelivered bob bob cy cy',
    ])
  })

  test('to the person about different things says so', () => {
    const [said] = messagesIn(
      notices(
        view,
        [telling('user', 'ack', letterOf(one)), telling('user', 'answer', letterOf(two))],
        context(),
      ),
    )
    expect(said).toMatchObject({ type: 'escalation', priority: 'high', payload: { notice: 'several' } })
    expect(said!.subject).toContain('2')
    expect(said!.body).toContain('mailbox show ID')
    expect(said!.payload).toMatchObject({ level: escalation.person })
  })

  test('is not sent to the system, of old or imported mail, nor of notices that did not arrive', () => {
    const send = (to: string, kind: NoticeKind, sent: Mail) =>
      notices(spaceOf(team, sent), [telling(to, kind, letterOf(sent))], context()).length
    expect(send('system', 'unread', one)).toBe(0)
    expect(send('lea', 'unread', mail(1, { to: ['bob'] }, { owner: 'bob', level: escalation.silent }))).toBe(
      0,
    )
    const sentAt = (ms: number) => mail(1, { from: 'ada', to: ['bob'], createdAt: iso(ms) })
    expect(send('lea', 'unread', sentAt(now - 30 * day))).toBe(1)
    expect(send('lea', 'unread', sentAt(now - 30 * day - 1))).toBe(0)
    const ours = mail(1, { from: 'system', to: ['bob'] })
    expect([send('lea', 'undelivered', ours), send('lea', 'unread', ours)]).toEqual([0, 1])
  })

  describe('of unread mail that nobody has read', () => {
    const earlier = (
      fields: { to?: string; kind?: NoticeKind; ids?: number[]; state?: 'shown' } = {},
    ): Mail => {
      const { to = 'lea', kind = 'unread', ids = [2], state } = fields
      return mail(
        9,
        {
          ...{ from: 'system', to: [to], type: 'escalation' },
          payload: { notice: kind, about: ids.map((n) => ({ id: idOf(n), to: 'bob', kind, reason: 'r' })) },
        },
        { owner: to, ...(state === undefined ? {} : { state }) },
      )
    }
    const say = (
      before: Mail,
      kind: NoticeKind = 'unread',
      isChanged?: (letter: Letter) => boolean,
      ...more: Mail[]
    ) => {
      const space = spaceOf(team, one, two, ...more, before)
      const all = [one, ...more].map((each) => telling('lea', kind, letterOf(each)))
      const drafts = notices(space, all, context(), isChanged)
      const about = messagesIn(drafts).map(({ payload }) =>
        (payload as { about: { id: string }[] }).about.map(({ id }) => id),
      )
      return { about, taken: receiptsIn(drafts).map(({ changes, note }) => [changes[0]!.seq, note]) }
    }
    const alone = { about: [[idOf(1)]], taken: [] }

    test('takes the place of the one before, and names each message once', () => {
      const taken = [[9, `replaced by ${idOf(1)}`]]
      expect(say(earlier())).toEqual({ about: [[idOf(2), idOf(1)]], taken })
      expect(say(earlier({ ids: [1, 2] }))).toEqual({ about: [[idOf(2), idOf(1)]], taken })
    })

    test.each<[string, ReturnType<typeof say>]>([
      ['it is of another kind', say(earlier({ kind: 'ack' }))],
      ['it is for another', say(earlier({ to: 'cy' }))],
      ['it was read', say(earlier({ state: 'shown' }))],
      ['something else happens to it', say(earlier(), 'unread', ({ seq }) => seq === 9)],
      ['the news is of another kind', say(earlier({ kind: 'ack' }), 'ack')],
    ])('but not where %s', (_, said) => {
      expect(said).toEqual(alone)
    })

    test('is about one recipient', () => {
      const { about, taken } = say(earlier(), 'unread', undefined, from(3, 'cy'))
      expect(about).toEqual([[idOf(2), idOf(1)], [idOf(3)]])
      expect(taken).toHaveLength(1)
    })
  })
})

describe('mail to a role is offered', () => {
  const settings: Partial<Settings> = { 'roles.assign': 'least-busy', 'roles.offerMs': 10 * minute }
  const dev = { roles: ['dev'] }
  const holders = [agent('ada'), agent('bob', dev), agent('cy', dev), agent('dan', dev)]
  const busy = (number: number, name: string) => mail(number, { from: 'ada', to: [name] })
  const offer = (
    mails: Mail[],
    input: Partial<SendInput> = {},
    changed: Partial<Settings> = {},
    { sender = 'ada', agents = holders, lastId = 0 } = {},
  ) => {
    const { offeredTo, offeredUntil } = decideSend(
      spaceOf(agents, ...mails),
      { from: sender, parent: undefined, input: { to: 'role:dev', ...input } },
      { ...context(now, { ...settings, ...changed }), newId: () => idOf(lastId) },
    ).result.message
    return offeredUntil === undefined ? offeredTo : `${offeredTo} until ${offeredUntil}`
  }
  const end = iso(now + 10 * minute)

  test('to the holder with the least open work, for a while', () => {
    expect(offer([busy(1, 'bob'), busy(2, 'dan')])).toBe(`cy until ${end}`)
    expect(offer([busy(1, 'bob'), busy(2, 'cy'), busy(3, 'cy'), busy(4, 'dan'), busy(5, 'dan')])).toBe(
      `bob until ${end}`,
    )
    expect(offer([busy(1, 'bob'), busy(2, 'dan')], {}, { 'roles.offerMs': 1 })).toBe(
      `cy until ${iso(now + 1)}`,
    )
  })

  test('to each of equals in turn, by the last digits of the id', () => {
    const turns = [0, 1, 2, 3].map((lastId) => offer([], {}, {}, { lastId }))
    expect(turns).toEqual(['bob', 'cy', 'dan', 'bob'].map((name) => `${name} until ${end}`))
    expect(offer([], {}, {}, { agents: holders.toReversed() })).toBe(`bob until ${end}`)
    // Only six of them count.
    expect(offer([], {}, {}, { lastId: 1_000_000 })).toBe(`bob until ${end}`)
  })

  test('not to its sender', () => {
    expect(offer([busy(1, 'bob'), busy(2, 'cy')], {}, {}, { sender: 'dan' })).not.toContain('dan')
    expect(offer([], {}, {}, { sender: 'dan', agents: holders.slice(0, 3).concat(agent('dan')) })).toContain(
      'until',
    )
  })

  test.each<[string, string | undefined]>([
    ['by the setting', offer([], {}, { 'roles.assign': 'queue' })],
    ['without time for it', offer([], {}, { 'roles.offerMs': 0 })],
    ['for urgent mail', offer([], { priority: 'urgent' })],
    ['for several recipients', offer([], { to: ['role:dev', 'ada'] })],
    ['for agents', offer([], { to: 'bob' })],
    ['for a role that nobody holds', offer([], { to: 'role:nobody' })],
    ['for one holder', offer([], {}, {}, { agents: holders.slice(0, 2) })],
    ['for one holder besides the sender', offer([], {}, {}, { sender: 'bob', agents: holders.slice(0, 3) })],
    [
      'for one holder who is there',
      offer([], {}, {}, { agents: [...holders.slice(0, 2), agent('cy', { ...dev, state: 'dead' })] }),
    ],
  ])('to nobody: %s', (_, offered) => {
    expect(offered).toBeUndefined()
  })

  test('until its time is over, or the holder is gone', () => {
    const task = mail(1, { from: 'ada', to: ['role:dev'] })
    const ended = (name: string, until: number, agents = holders) => {
      const view: View = {
        ...spaceOf(agents, task),
        offers: () => [{ ...letterOf(task), agent: name, until }],
      }
      const letters = new LetterChanges(view, context())
      endOffers(letters)
      return receiptsIn(letters.drafts()).map(({ step, note, changes: [change] }) => [
        step,
        note,
        change!.state,
      ])
    }
    expect(ended('bob', now + 1)).toEqual([])
    expect(ended('bob', now)).toEqual([['released', 'bob did not take it in time', 'stored']])
    for (const [name, agents] of [
      ['gone', holders],
      ['ada', holders],
      ['bob', [agent('ada'), agent('bob', { ...dev, state: 'dead' })]],
    ] as const)
      expect(ended(name, now + 1, [...agents])).toEqual([
        ['released', `${name} is not there to take it`, 'stored'],
      ])
  })
})
