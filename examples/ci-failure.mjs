// An orchestrator reports a failing check to a session and waits until it knows that the report has arrived
// (S3). One session acknowledges it, fixes it and says so. Another never does: the report is shown to it
// again, and then the person is told, because the one who leads has sent it. The times are short, so that one
// can watch.
import assert from 'node:assert/strict'
import { reportCiFailure } from '../dist/mod.js'
import { play } from './stage.mjs'

const settings = { ackTimeoutMs: 2_000, ackRepeats: 1 }
const fast = { timeoutMs: 15_000 }

await play(async ({ space, start }) => {
  const orchestrator = await space.mailbox('orchestrator', { join: { roles: ['orchestrator'] } })
  const good = start('session-1', {
    on: { fix_ci_failure: [{ ack: true }, { sleepMs: 200 }, { note: 'fixed in 4f2a91c' }] },
  })
  await good.says('ready')
  const failure = { check: 'unit tests', branch: 'feature/parser', url: 'https://ci.example/run/17' }
  const sent = await reportCiFailure(orchestrator, { to: 'session-1', ...failure })
  assert.equal(await orchestrator.waitForAck(sent.id, fast), true)
  console.log('session-1 has it')
  await good.says('done', { id: sent.id })
  const { steps } = (await space.show(sent.id)).receipts[0]
  assert.ok(steps.some(({ note }) => note === 'fixed in 4f2a91c'))

  // A session that reads its mail and says nothing.
  const silent = start('session-2', { begin: [{ read: true }, { holdMs: 600_000 }] })
  await silent.says('ready')
  const lost = await reportCiFailure(orchestrator, { to: 'session-2', ...failure })
  await silent.says('saw')
  assert.equal(await orchestrator.waitForAck(lost.id, { timeoutMs: 2_500 }), false)
  await space.runDue()
  const again = (await space.show(lost.id)).receipts[0]
  assert.deepEqual([again.state, again.repeats], ['stored', 1])
  console.log('session-2 does not answer: the report is there again, with the same id')

  const other = await space.mailbox('session-2', { join: false })
  assert.equal((await other.read(lost.id)).id, lost.id)
  // The orchestrator asked, and nobody else leads, so the person is told.
  const person = await space.mailbox('user')
  const told = await person.wait({ type: 'escalation', ...fast })
  assert.equal(told.from, 'system')
  assert.equal(told.payload.id, lost.id)
  assert.equal(told.payload.recipient, 'session-2')
  assert.ok((await space.owed({ kind: 'ack' })).some(({ id, by }) => id === lost.id && by === 'session-2'))
  console.log(`and then the person is told: ${told.subject}`)
}, settings)
