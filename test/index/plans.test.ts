import { describe, expect, it } from 'vitest'
import { tempSpace } from '../helpers/temp.ts'

/** Tables that have a row, or several, for every message there ever was. */
const long = /^SCAN (?:r|m|g|receipt|message|trail|t|label|l|claim|c|keyed|k)\b/
/** Partial indexes: they have what waits for something. */
const short = /INDEX (?:receipt_young|receipt_unacked|receipt_dead|receipt_expired|message_sealed)\b/

describe('what agents do all day', () => {
  it('never reads a table of messages from end to end', async () => {
    const space = await tempSpace()
    const { index } = space.core
    const sql = index.sql.bind(index)
    const asked = new Set<string>()
    index.sql = (text) => {
      asked.add(text)
      return sql(text)
    }
    const ada = await space.mailbox('ada', { join: { roles: ['architect', 'lead'] } })
    const bob = await space.mailbox('bob', { join: { roles: ['worker'], tags: ['project:x'] } })
    await ada.send({ to: 'bob', body: 'one', requiresAck: true })
    await ada.send({ to: 'role:worker', body: 'two', priority: 'urgent' })
    await ada.send({ to: 'project:x', body: 'three' })
    const { messages } = await bob.check()
    for (const { id } of messages) await bob.ack(id)
    const question = await bob.send({ to: 'ada', type: 'help_request', body: 'four', awaitingResponse: true })
    await ada.check()
    await ada.reply(question.id, { body: 'five' })
    await ada.send({ to: 'role:worker', type: 'task_assignment', body: 'six', payload: { taskId: 'T-1' } })
    const task = await bob.claimNext('worker')
    await bob.start(task!.message.id)
    await bob.done(task!.message.id)
    await bob.count()
    await bob.inbox()
    await bob.owed()
    await space.runDue()
    await space.join('cleo', { roles: ['worker'] })
    await bob.leave()
    const plans = [...asked].flatMap((text) =>
      /^\s*SELECT/.test(text)
        ? sql(`EXPLAIN QUERY PLAN ${text}`)
            .all<[number, number, number, string]>([])
            .map((row) => ({ text, plan: row[3] }))
        : [],
    )
    expect(plans.length).toBeGreaterThan(50)
    const scans = plans.filter(({ plan }) => long.test(plan) && !short.test(plan))
    expect(scans).toEqual([])
  })
})
