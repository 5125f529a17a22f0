// An agent submits a plan before it builds (S4), and waits for the verdict while its task runs. The lead rejects it and
// says why; the agent submits a new version of it, and that one is approved. There is one open plan for a task at a
// time.
import assert from 'node:assert/strict'
import { assignTask, submitPlan } from '../dist/mod.js'
import { play } from './stage.mjs'

await play(async ({ space, start }) => {
  const person = await space.mailbox('user')
  // Nobody leads yet: the plan waits for whoever will.
  const plan = { to: 'role:lead', subject: 'The parser', body: 'Everything at once.', taskId: 'T-7' }
  const builder = start('builder', {
    on: {
      task_assignment: [
        ...[{ plan }, { waitMs: 60_000 }],
        ...[{ plan: { ...plan, body: 'The lexer.', revise: true } }, { waitMs: 60_000 }],
        { note: 'built' },
      ],
    },
  })
  await builder.says('ready')
  const task = await assignTask(person, { to: 'builder', subject: 'The parser', taskId: 'T-7' })
  const first = await builder.says('submitted')
  const another = await space.mailbox('builder', { join: false })
  await assert.rejects(submitPlan(another, plan), { code: 'conflict' })

  const lead = start('lead', {
    roles: ['lead'],
    verdicts: [{ approved: false, feedback: 'Too large: begin with the lexer.' }, { approved: true }],
  })
  await lead.says('ready')
  const no = await builder.says('answered')
  assert.deepEqual(no.payload, { approved: false, feedback: 'Too large: begin with the lexer.' })
  console.log(`rejected: ${no.body}`)
  const yes = await builder.says('answered')
  assert.equal(yes.payload.approved, true)
  await builder.says('done', { id: task.id })
  const thread = await person.thread(first.id)
  assert.deepEqual(
    thread.map(({ type }) => type),
    ['plan_submission', 'plan_approval', 'plan_submission', 'plan_approval'],
  )
  const { matters } = await person.waitUntilSettled(task.id, { timeoutMs: 30_000 })
  assert.equal(matters[0].state, 'done')
  assert.deepEqual(await space.owed(), [])
  console.log('revised and approved')
})
