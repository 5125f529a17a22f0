// An agent submits a plan before it builds (S4). The lead rejects it and says why; the agent submits a new
// version of it, and that one is approved. There is one open plan for a task at a time.
import assert from 'node:assert/strict'
import { submitPlan } from '../dist/mod.js'
import { play } from './stage.mjs'

await play(async ({ space, start }) => {
  const builder = await space.mailbox('builder')
  // Nobody leads yet: the plan waits for whoever will.
  const plan = { to: 'role:lead', subject: 'The parser', body: 'Everything at once.', taskId: 'T-7' }
  const first = await submitPlan(builder, plan)
  await assert.rejects(submitPlan(builder, plan), { code: 'conflict' })

  const lead = start('lead', {
    roles: ['lead'],
    verdicts: [{ approved: false, feedback: 'Too large: begin with the lexer.' }, { approved: true }],
  })
  await lead.says('ready')
  const no = await builder.wait({ replyTo: first.id, timeoutMs: 10_000 })
  assert.deepEqual(no.payload, { approved: false, feedback: 'Too large: begin with the lexer.' })
  console.log(`rejected: ${no.body}`)

  const second = await submitPlan(builder, { ...plan, body: 'The lexer.', revises: first.id })
  const yes = await builder.wait({ replyTo: second.id, timeoutMs: 10_000 })
  assert.equal(yes.payload.approved, true)
  const thread = await builder.thread(first.id)
  assert.deepEqual(
    thread.map(({ type }) => type),
    ['plan_submission', 'plan_approval', 'plan_submission', 'plan_approval'],
  )
  assert.deepEqual(await space.owed(), [])
  console.log('revised and approved')
})
