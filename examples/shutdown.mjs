// A lead asks an agent to stop while it works (S4). The agent says that it will, when its task is done, and
// then does: nothing is cut off. A request that was meant for an earlier run of an agent does nothing to the
// next one; whoever sent it is told.
import assert from 'node:assert/strict'
import { assignTask, requestShutdown } from '../dist/mod.js'
import { play, stateOf } from './stage.mjs'

await play(async ({ space, start }) => {
  const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
  const busy = start('busy', { on: { task_assignment: [{ sleepMs: 3_000 }, { note: 'built' }] } })
  await busy.says('ready')
  const task = await assignTask(lead, { to: 'busy', subject: 'the parser' })
  await busy.says('handling')

  const { id } = await requestShutdown(lead, 'busy', { reason: 'Enough for today.', withinMs: 30_000 })
  const later = await lead.wait({ replyTo: id, timeoutMs: 10_000 })
  assert.deepEqual(later.payload, { accepted: false, reason: 'finishing: the parser' })
  console.log(`deferred: ${later.body}`)
  const yes = await lead.wait({ replyTo: id, timeoutMs: 10_000 })
  assert.deepEqual(yes.payload, { accepted: true })
  assert.equal((await busy.says('ended')).handled, 1)
  assert.equal((await space.show(task.id)).receipts[0].state, 'archived')
  assert.equal(await stateOf(space, 'busy'), 'dead')
  console.log('its task is done, and it has left')

  const first = start('other')
  await first.says('ready')
  first.kill('SIGKILL')
  await first.exit
  const old = await requestShutdown(lead, 'other', { reason: 'For the run that has just died.' })
  const second = start('other', { on: { task_assignment: [{ note: 'built' }] } })
  assert.equal((await second.says('ready')).generation, 2)
  const next = await assignTask(lead, { to: 'other', subject: 'the lexer' })
  await second.says('done', { id: next.id })
  assert.equal((await space.show(old.id)).receipts[0].state, 'dead')
  const told = await lead.wait({ type: 'error', timeoutMs: 10_000 })
  assert.equal(told.replyTo, old.id)
  console.log('a request for the run before does nothing to the next')
})
