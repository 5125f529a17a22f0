// S4: a lead and a builder. The builder submits a plan before it builds; it is rejected, revised and approved. In
// the middle of the work it asks whether to go on, and while it waits it is asked to shut down: it defers, finishes,
// accepts and leaves. All of that happens inside the handlers of the two loops. Then the team is cleaned up.
import assert from 'node:assert/strict'
import {
  askForHelp,
  assignTask,
  cleanUpTeam,
  requestShutdown,
  runAgent,
  runLead,
  submitPlan,
} from '../../dist/mod.js'
import { tell } from './cast.mjs'

const cast = {
  builder: {
    run: ({ mailbox, say }) =>
      runAgent(mailbox, {
        task_assignment: async ({ subject }, { signal }) => {
          let plan = await submitPlan(mailbox, { subject, body: 'Everything at once.' })
          let verdict = await mailbox.wait({ replyTo: plan.id, signal })
          while (!verdict.payload.approved) {
            say('rejected', { feedback: verdict.payload.feedback })
            plan = await submitPlan(mailbox, { subject, body: 'First the lexer.', revises: plan.id })
            verdict = await mailbox.wait({ replyTo: plan.id, signal })
          }
          say('approved')
          const question = await askForHelp(mailbox, { body: 'The lexer is done. Shall I go on?' })
          const answer = await mailbox.wait({ replyTo: question.id, signal })
          return `Lexer and parser. (${answer.body})`
        },
      }),
  },

  lead: {
    join: { roles: ['lead'] },
    run: async ({ mailbox, space, say, signal }) => {
      let stop
      await runLead(
        mailbox,
        {
          task_assignment: async ({ subject }) => {
            const task = await assignTask(mailbox, { to: 'builder', subject })
            const work = await mailbox.waitUntilSettled(task.id, { signal })
            const end = await mailbox.waitUntilSettled(stop.id, { signal })
            say('ended', { states: [...work.matters, ...end.matters].map(({ state }) => state) })
            await cleanUpTeam(space, ['builder'])
            const [{ body }] = await mailbox.waitForMessages({ replyTo: [task.id], signal })
            return body
          },
          // Both are handled while the task above waits.
          plan_submission: ({ body }) =>
            body.startsWith('First')
              ? { approved: true }
              : { approved: false, feedback: 'Too much at once.' },
          help_request: async ({ from }) => {
            stop = await requestShutdown(mailbox, from, { reason: 'That is all for today.' })
            const later = await mailbox.wait({ replyTo: stop.id, signal })
            say('deferred', { accepted: later.payload.accepted, reason: later.payload.reason })
            return 'Yes, finish it.'
          },
        },
        { signal },
      )
    },
  },
}

await tell(import.meta.url, cast, async ({ space, start }) => {
  const person = await space.mailbox('user')
  const lead = await start('lead')
  const builder = await start('builder')
  const task = await assignTask(person, { to: 'lead', subject: 'The parser' })

  console.log(`rejected: ${(await builder.says('rejected')).feedback}`)
  await builder.says('approved')
  console.log('revised and approved')
  const { accepted, reason } = await lead.says('deferred')
  assert.deepEqual([accepted, reason], [false, 'finishing: The parser'])
  console.log(`asked to shut down in the middle of it: ${reason}`)
  assert.deepEqual((await lead.says('ended')).states, ['done', 'accepted'])
  await builder.exit
  console.log('the work is done, and the builder has left')

  const told = await person.wait({ replyTo: task.id, timeoutMs: 30_000 })
  assert.equal(told.body, 'Lexer and parser. (Yes, finish it.)')
  console.log(`the person is told: ${told.body}`)
  const left = (await space.agents()).find(({ name }) => name === 'builder')
  assert.deepEqual([left.state, left.gone], ['dead', 'left'])
  const mail = await (await space.mailbox('builder', { join: false })).inbox()
  assert.deepEqual(mail.messages, [])
  assert.deepEqual(await space.owed(), [])
})
