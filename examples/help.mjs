// A worker is stuck, asks for help and waits (S2). The roster shows it as waiting, so that everybody can see
// who is blocked. The coordinator answers, and the answer is the first thing that the worker sees, before
// other mail that is just as urgent and came earlier.
import assert from 'node:assert/strict'
import { play, stateOf } from './stage.mjs'

await play(async ({ space, start }) => {
  const coordinator = await space.mailbox('coordinator', { join: { roles: ['coordinator'] } })
  const worker = start('worker', { begin: [{ ask: { body: 'Which port does the API use?' } }] })
  const { id } = await worker.says('asked')
  assert.equal(await stateOf(space, 'worker'), 'waiting')
  console.log('the worker waits')
  worker.stop()
  await worker.says('ended')
  await worker.exit

  const question = await coordinator.wait({ type: 'help_request', timeoutMs: 10_000 })
  assert.equal(question.id, id)
  assert.deepEqual(
    (await coordinator.owed()).map(({ kind, from }) => [kind, from]),
    [['question', 'worker']],
  )
  await coordinator.send({ to: 'worker', subject: 'The build is red', priority: 'urgent' })
  await coordinator.reply(id, { body: '8080' })

  const resumed = start('worker', { begin: [{ check: true }] })
  const { subjects } = await resumed.says('saw')
  assert.deepEqual(subjects, ['Re: Help wanted', 'The build is red'])
  assert.notEqual(await stateOf(space, 'worker'), 'waiting')
  assert.deepEqual(await space.owed(), [])
  console.log(`it resumes and sees first: ${subjects[0]}`)
})
