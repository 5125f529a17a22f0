import { describe, expect, test } from 'vitest'
import type { Context } from '../../src/command/context.ts'
import { decideDue } from '../../src/command/due/due.ts'
import type { Matter } from '../../src/conversation/matter.ts'
import type { View } from '../../src/conversation/view.ts'
import type { Agent } from '../../src/model/agent.ts'
import type { Message } from '../../src/model/message.ts'
import type { ReceiptState } from '../../src/model/receipt.ts'
import { agent, idOf } from '../helpers/samples.ts'
import {
  hour,
  iso,
  type Mail,
  mail,
  messagesIn,
  minute,
  now,
  type ReceiptInput,
  receiptsIn,
  spaceOf,
  withPolicy,
} from './fake-view.ts'

const nobody = { running: new Set<string>(), gone: new Set<string>() }
/** They have been here for days. */
const since = { session: { generation: 1, startedAt: iso(now - 100 * hour) }, lastSeenAt: iso(now) }
const ada = agent('ada', since)
const lea = agent('lea', { ...since, roles: ['lead'] })
const team = [ada, lea]
const patient = withPolicy({ answerAfterMs: hour, urgentAfterMs: 0, staleAfterMs: 0, ackTimeoutMs: 0 })

interface Waiting {
  matter?: Partial<Matter>
  text?: Partial<Message>
  receipt?: Partial<ReceiptInput>
  agents?: Agent[]
  /** Notices about it so far. */
  told?: Mail[]
}

const day = 24 * hour

/** What is done about a question of bob that ada has not answered. */
function overdue(
  { matter = {}, text = {}, receipt = {}, agents = team, told: notices = [] }: Waiting,
  at: Context = patient,
) {
  const letter = mail(
    1,
    { from: 'bob', subject: 'Which port?', ...text },
    { owner: 'ada', state: 'shown', ...receipt },
  )
  const open: Matter = {
    ...{ seq: 1, id: idOf(1), owner: 'ada', kind: 'question', state: 'open', asker: 'bob', key: null },
    ...{ since: now - hour, until: null, level: 0, ...matter },
  }
  const asked: unknown[] = []
  const view: View = {
    ...spaceOf(agents, letter, ...notices),
    overdue: (...given) => {
      asked.push(given)
      return [open]
    },
  }
  const drafts = decideDue(view, nobody, at)
  return { told: messagesIn(drafts), receipts: receiptsIn(drafts), asked }
}

describe('an answer that does not come', () => {
  test('is told to the lead after an hour, and then to the person', () => {
    const { told, receipts, asked } = overdue({})
    expect(told).toMatchObject([
      {
        ...{ from: 'system', to: ['role:lead'], type: 'escalation', priority: 'high', replyTo: idOf(1) },
        subject: 'bob is waiting for ada: no answer yet',
        body: `Message ${idOf(1)} from bob to ada was sent 30 min ago: no answer yet.\n\nSee it: mailbox show ${idOf(1)}`,
        payload: { notice: 'answer', id: idOf(1), recipient: 'ada', reason: 'no answer yet' },
      },
    ])
    expect(receipts).toMatchObject([
      {
        step: 'overdue',
        by: 'system',
        note: 'no answer yet',
        changes: [{ owner: 'ada', state: 'shown', was: 'shown' }],
      },
    ])
    expect(asked).toEqual([[now, now - hour, 500]])
    const { told: next } = overdue({ matter: { level: 1, since: now - 2 * hour } })
    expect(next).toMatchObject([{ to: ['user'], payload: { notice: 'answer' } }])
  })

  test.each<[string, Partial<Matter>, number]>([
    ['a millisecond before', { since: now - hour + 1 }, 0],
    ['once told, before another hour', { level: 1, since: now - 2 * hour + 1 }, 0],
    ['a deadline that is to come', { until: now + 1, since: now - minute }, 0],
    ['a deadline that somebody was told of', { until: now, since: now - minute, level: 1 }, 0],
    ['a day, but the deadline is to come', { until: now + 1, since: now - day }, 0],
    ['not quite an hour after the deadline', { until: now - hour + 1, since: now - day, level: 1 }, 0],
    ['an hour after the deadline: the lead', { until: now - hour, since: now - day, level: 1 }, 1],
    ['two hours after it: the person', { until: now - 2 * hour, since: now - day, level: 2 }, 1],
  ])('%s: %j', (_, matter, told) => {
    expect(overdue({ matter }).told).toHaveLength(told)
  })

  test.each<[string, Waiting, string[]]>([
    ['there is no lead', { agents: [ada] }, ['user']],
    [
      'the lead is away',
      { agents: [ada, agent('lea', { ...since, roles: ['lead'], state: 'frozen' })] },
      ['user'],
    ],
    ['the lead itself asked', { text: { from: 'lea' }, matter: { asker: 'lea' } }, ['user']],
    [
      'the person asked, and there is no lead',
      { agents: [ada], text: { from: 'user' }, matter: { asker: 'user' } },
      [],
    ],
    [
      'the person was asked',
      { text: { to: ['user'] }, matter: { owner: 'user' }, receipt: { owner: 'user', box: 'user' } },
      [],
    ],
  ])('is told to whom it concerns: %s', (_, waiting, to) => {
    const { told, receipts } = overdue(waiting)
    expect(told.flatMap((one) => one.to)).toEqual(to)
    // Whoever is told or not: it is looked at once.
    expect(receipts).toMatchObject([{ step: 'overdue' }])
  })

  test.each<[string, Partial<Agent>, number]>([
    ['is away', { state: 'frozen' }, 0],
    ['was taken for dead', { state: 'dead', gone: 'silent' }, 0],
    ['came back less than an hour ago', { lastAway: { from: iso(now - day), to: iso(now - hour + 1) } }, 0],
    ['came back an hour ago', { lastAway: { from: iso(now - day), to: iso(now - hour) } }, 1],
    ['began less than an hour ago', { session: { generation: 2, startedAt: iso(now - hour + 1) } }, 0],
  ])('counts only while its recipient is there: it %s', (_, fields, told) => {
    const agents = [agent('ada', { ...since, ...fields }), lea]
    expect(overdue({ matter: { since: now - day }, agents }).told).toHaveLength(told)
  })

  test('is told to nobody who knows of the message already, whatever the reason was', () => {
    const about = [{ id: idOf(1), to: 'ada', kind: 'unread', reason: 'urgent and unread' }]
    const known = (state: ReceiptState) =>
      mail(
        2,
        { from: 'system', to: ['role:lead'], payload: { notice: 'unread', about } },
        { owner: 'role:lead', state },
      )
    expect(overdue({ told: [known('shown')] }).told).toEqual([])
    expect(overdue({ told: [known('withdrawn')] }).told).toMatchObject([{ to: ['role:lead'] }])
  })

  test("is nobody's concern where nobody wants to be told", () => {
    const never = withPolicy({ answerAfterMs: 0 })
    const { told, receipts, asked } = overdue({}, never)
    expect([told, receipts]).toEqual([[], []])
    expect(asked).toEqual([[now, 0, 500]])
  })

  test('leaves the claim and the ack of the message as they are', () => {
    const { receipts } = overdue({
      receipt: { claimUntil: now + 5, ackBy: now + 7, attempts: 2, repeats: 1 },
    })
    expect(receipts[0]!.changes).toMatchObject([
      { claimUntil: iso(now + 5), ackBy: iso(now + 7), attempts: 2, repeats: 1 },
    ])
    const [plain] = overdue({}).receipts[0]!.changes
    expect(plain).not.toHaveProperty('claimUntil')
    expect(plain).not.toHaveProperty('ackBy')
  })

  test('of somebody who has no receipt of it is passed over', () => {
    expect(overdue({ matter: { owner: 'cy' } })).toMatchObject({ told: [], receipts: [] })
  })
})

describe('a deadline that was missed', () => {
  const missed = (matter: Partial<Matter> = {}, text: Partial<Message> = {}, at = patient) =>
    overdue({ matter: { until: now, since: now - minute, ...matter }, text }, at)

  test('is told to whoever set it', () => {
    const { told, receipts } = missed()
    expect(told).toMatchObject([
      {
        ...{ to: ['bob'], type: 'notification', priority: 'high', replyTo: idOf(1) },
        subject: 'ada: the question was not settled in time',
        body: `Message ${idOf(1)} from bob to ada was sent 30 min ago: the question was not settled in time.\n\nAsk again, or ask somebody else. See it: mailbox show ${idOf(1)}`,
        payload: { notice: 'deadline', id: idOf(1), recipient: 'ada' },
      },
    ])
    expect(receipts).toMatchObject([{ step: 'overdue', note: 'the question was not settled in time' }])
  })

  test('of the system is told to the person; of a shutdown the process is named; also where nobody else is told', () => {
    const never = withPolicy({ answerAfterMs: 0 })
    expect(missed({ asker: 'system' }, { subject: '' }, never).told).toMatchObject([
      { to: ['user'], subject: 'ada: the question was not settled in time' },
    ])
    expect(missed({ kind: 'shutdown' }).told[0]!.body).toContain('end its process if it must stop now')
  })
})

describe('a note about a letter', () => {
  const urgent = withPolicy({
    urgentAfterMs: 5 * minute,
    staleAfterMs: hour,
    ackTimeoutMs: 15 * minute,
    ackRepeats: 0,
  })
  const due = (text: Partial<Message>, receipt: ReceiptInput, at = urgent) => {
    const drafts = decideDue(spaceOf(team, mail(1, { subject: '', ...text }, receipt)), nobody, at)
    return { told: messagesIn(drafts), receipts: receiptsIn(drafts) }
  }

  test('that it is urgent keeps its ack, and says how long it waits', () => {
    const { told, receipts } = due({ priority: 'urgent' }, { owner: 'ada', ackBy: now + 9 })
    expect(receipts).toMatchObject([
      {
        step: 'escalated',
        note: 'urgent and unread: role:lead was told',
        changes: [{ ackBy: iso(now + 9), level: 1 }],
      },
    ])
    expect(told[0]).toMatchObject({ subject: 'ada has not read an urgent message from bob' })
    expect(told[0]!.body).toContain('was sent 30 min ago: urgent and unread.')
    expect(
      due({ priority: 'urgent', createdAt: iso(now - 10 * minute) }, { owner: 'user' }).receipts,
    ).toMatchObject([{ note: 'urgent and unread: nobody is left to tell', changes: [{ level: 2 }] }])
  })

  test('that no ack came keeps the lease of a claim, so that it is free afterwards', () => {
    const claimed: ReceiptInput = {
      ...{ owner: 'role:dev', box: 'ada', state: 'shown', claimUntil: now + 60, ackBy: now },
    }
    const { receipts } = due({ requiresAck: true, to: ['role:dev'] }, claimed)
    expect(receipts).toMatchObject([
      {
        ...{ step: 'escalated', note: 'no ack came: role:lead was told' },
        changes: [
          { owner: 'role:dev', box: 'ada', claimUntil: iso(now + 60), ackBy: iso(now + 15 * minute) },
        ],
      },
    ])
    const again = due(
      { requiresAck: true, to: ['role:dev'] },
      claimed,
      withPolicy({ ackTimeoutMs: minute, ackRepeats: 1 }),
    )
    expect(again.receipts).toMatchObject([
      { step: 'repeated', note: 'no ack came', changes: [{ claimUntil: iso(now + 60), repeats: 1 }] },
    ])
  })

  test('that it is stale is not for urgent mail, unless that is never escalated', () => {
    const old = { createdAt: iso(now - 2 * hour) }
    const step = (text: Partial<Message>, at: Context) =>
      due({ ...old, ...text }, { owner: 'ada', level: 0 }, at).receipts.map(
        (one) => `${one.step}: ${one.note}`,
      )
    const stale = 'stale: unread for a long time'
    expect(step({ priority: 'high' }, urgent)).toEqual([stale])
    expect(step({ priority: 'urgent' }, withPolicy({ urgentAfterMs: 3 * hour, staleAfterMs: hour }))).toEqual(
      [],
    )
    expect(step({ priority: 'urgent' }, withPolicy({ urgentAfterMs: 0, staleAfterMs: hour }))).toEqual([
      stale,
    ])
  })

  test('that was marked stale can still tell the lead first of a missing ack', () => {
    const { told } = due({ requiresAck: true }, { owner: 'ada', state: 'shown', ackBy: now, level: 3 })
    expect(told).toMatchObject([{ to: ['role:lead'] }])
  })
})

describe('what becomes of the mail of the dead', () => {
  const died = (name: string, gone: 'left' | 'ended') =>
    agent(name, { state: 'dead', gone, lastSeenAt: iso(now - day) })
  const notes = (view: View) =>
    receiptsIn(decideDue(view, nobody, patient)).map(
      ({ step, note, changes }) => `${step}: ${note} (${changes.map(({ seq }) => seq)})`,
    )

  test('is told by how they went, each with its own words', () => {
    const view = spaceOf(
      [died('ada', 'ended'), died('cy', 'left')],
      ...[
        mail(1, { to: ['ada'], createdAt: iso(now - 2 * day) }),
        mail(2, { to: ['cy'] }),
        mail(3, { to: ['cy'] }),
      ],
    )
    expect(notes(view)).toEqual(['dead: ada has died (1)', 'dead: cy has left (2,3)'])
  })

  test('an agent whose process ended is recorded as that', () => {
    const [draft] = decideDue(spaceOf([agent('ada')]), { ...nobody, gone: new Set(['ada 1']) }, patient)
    expect(draft).toMatchObject({
      change: 'died',
      agent: { state: 'dead', gone: 'ended', note: 'its process ended', lastSeenAt: iso(now) },
    })
  })

  test('mail that was read has arrived, once nothing of it is open', () => {
    const read = mail(1, { to: ['ada'], awaitingResponse: true }, { owner: 'ada', state: 'shown' })
    const view = spaceOf([died('ada', 'left')], read)
    const answered: View = {
      ...view,
      matters: (seq) => view.matters(seq).map((one) => ({ ...one, state: 'answered' })),
    }
    expect(notes(view)).toEqual(['dead: ada has left (1)'])
    expect(notes(answered)).toEqual(['archived: ada has left (1)'])
  })
})

describe('mail whose time is over', () => {
  const steps = (view: View) =>
    receiptsIn(decideDue(view, nobody, patient)).map(({ step, note }) => `${step}: ${note}`)

  test('to a group has done its work only if somebody read it', () => {
    const over = { to: ['all'], expiresAt: iso(now) }
    const seenBy = (state: 'notified' | 'shown') =>
      spaceOf(team, mail(1, over, { owner: 'all' }, { owner: 'ada', state, viaGroup: true, expiresAt: null }))
    expect(steps(seenBy('shown'))).toEqual(['expired: it expired'])
    expect(steps(seenBy('notified'))).toEqual(['expired: it expired before anybody read it'])
  })

  test('for an earlier run is dead for a later one alone', () => {
    const second = agent('ada', { session: { generation: 2, startedAt: iso(now) }, lastSeenAt: iso(now) })
    const bound = (generation: number, agents = [second]): View => {
      const letter = mail(1, { generation })
      return { ...spaceOf(agents, letter), bound: () => [{ ...letter.receipts[0]!, id: letter.facts.id }] }
    }
    expect(steps(bound(1))).toEqual(['dead: it was for generation 1 of ada, which is now generation 2'])
    expect(steps(bound(2))).toEqual([])
    expect(steps(bound(1, []))).toEqual([])
    expect(steps({ ...bound(1), message: () => undefined })).toEqual([])
  })
})

test('a note about group mail keeps that it came by a group', () => {
  const { receipts } = overdue({ receipt: { viaGroup: true } })
  expect(receipts[0]!.changes).toMatchObject([{ viaGroup: true }])
})
