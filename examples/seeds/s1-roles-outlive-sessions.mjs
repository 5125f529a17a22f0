// S1: "roles outlive instances". Three sessions are the architect, one after the other. The first answers and leaves.
// The second dies in the middle of a task that came while nobody held the role. The third finds that task, does it,
// and whoever asked is told. What was sent to the first session by name ends with it; what was sent to everybody on
// the project reaches each session once.
import assert from 'node:assert/strict'
import { assignTask, runAgent } from '../../dist/mod.js'
import { tell } from './cast.mjs'

const architect = { roles: ['architect'], tags: ['project:inscription'] }

const cast = {
  // Answers one question, and leaves without reading anything else.
  first: {
    join: architect,
    run: async ({ mailbox, say, signal }) => {
      const question = await mailbox.wait({ type: 'request' })
      await mailbox.reply(question.id, { body: 'Tags are groups.' })
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await mailbox.leave()
      say('left')
    },
  },
  // Takes the task of its role, and never finishes it.
  second: {
    join: architect,
    run: ({ mailbox, say }) =>
      runAgent(mailbox, {
        task_assignment: ({ subject }) => {
          say('working', { subject })
          return new Promise(() => {})
        },
      }),
  },
  third: {
    join: architect,
    run: ({ mailbox, say, signal }) =>
      runAgent(
        mailbox,
        { task_assignment: () => 'The schema is in architecture/33.' },
        { signal, onEvent: ({ event, message }) => say(event, { subject: message.subject }) },
      ),
  },
}

await tell(import.meta.url, cast, async ({ space, start }) => {
  const steward = await space.mailbox('steward', { join: { roles: ['steward'] } })

  const lina = await start('first', 'lina')
  const question = await steward.send({
    to: 'role:architect',
    type: 'request',
    subject: 'What are groups?',
    awaitingResponse: true,
  })
  const answer = await steward.wait({ replyTo: question.id, timeoutMs: 30_000 })
  assert.equal(answer.from, 'lina')
  console.log(`lina, the architect, says: ${answer.body}`)

  await steward.send({ to: 'project:inscription', subject: 'The project is on hold until Monday' })
  const personal = await steward.send({ to: 'lina', subject: 'For you alone' })
  lina.stop()
  await lina.says('left')
  const bounce = await steward.wait({ replyTo: personal.id, timeoutMs: 30_000 })
  assert.equal(bounce.from, 'system')
  console.log(`a letter to lina herself: ${bounce.subject}`)

  const task = await assignTask(steward, { to: 'role:architect', subject: 'Write the schema' })
  console.log(task.warnings.join())
  const mara = await start('second', 'mara')
  await mara.says('working', { subject: 'Write the schema' })
  mara.kill('SIGKILL')
  await mara.exit
  console.log('mara, the second architect, took the task and died')

  const noor = await start('third', 'noor')
  await noor.says('gathered', { subject: 'The project is on hold until Monday' })
  const { settled, matters } = await steward.waitUntilSettled(task.id, { timeoutMs: 30_000 })
  assert.deepEqual([settled, matters[0].by, matters[0].state], [true, 'noor', 'done'])
  const told = await steward.wait({ replyTo: task.id, timeoutMs: 30_000 })
  assert.equal(told.body, 'The schema is in architecture/33.')
  assert.deepEqual(await space.owed(), [])
  console.log(`noor, the third, has done it: ${told.body}`)
})
