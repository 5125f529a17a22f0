// S0: an architect hands a design over to an implementer. The implementer is stuck in the middle of it and escalates;
// the COO cannot decide either and asks the person. The answer comes back the same way, and in the end the architect
// is told that the work is done, without having asked.
import assert from 'node:assert/strict'
import { escalate, handOff, runAgent } from '../../dist/mod.js'
import { tell } from './cast.mjs'

const cast = {
  architect: {
    run: async ({ mailbox, say }) => {
      const { id } = await handOff(mailbox, {
        to: 'implementer',
        subject: 'Implement the mailbox',
        workCompleted: 'The design, in MAILBOX_DESIGN.md.',
        currentState: 'Ready for implementation.',
        nextSteps: ['Write the manager', 'Add unit tests'],
        filesModified: ['MAILBOX_DESIGN.md'],
        priority: 'high',
      })
      say('handed over', { id })
      const told = await mailbox.wait({ replyTo: id })
      say('told', { body: told.body, status: told.payload.status })
    },
  },

  implementer: {
    run: ({ mailbox, signal }) =>
      runAgent(
        mailbox,
        {
          handoff: async ({ id, context }) => {
            const reason = 'The design has two formats for a message.'
            const problem = await escalate(mailbox, { about: id, reason })
            const { body } = await mailbox.wait({ replyTo: problem.id, signal })
            return `${context.nextSteps.join(', ')}: done. ${body}`
          },
        },
        { signal },
      ),
  },

  coo: {
    join: { roles: ['coo'] },
    run: ({ mailbox, signal }) =>
      runAgent(
        mailbox,
        {
          escalation: async ({ id, payload }) => {
            const question = await escalate(mailbox, { about: id, reason: payload.reason })
            const { body } = await mailbox.wait({ replyTo: question.id, signal })
            await mailbox.reply(id, { body: `The person says: ${body}` })
          },
        },
        { signal },
      ),
  },
}

await tell(import.meta.url, cast, async ({ space, start }) => {
  const person = await space.mailbox('user')
  await start('coo')
  await start('implementer')
  const architect = await start('architect')
  const { id } = await architect.says('handed over')

  const question = await person.wait({ type: 'escalation', timeoutMs: 30_000 })
  assert.equal(question.payload.level, 'person')
  console.log(`the person is asked: ${question.payload.reason}`)
  const waiting = await space.agents()
  for (const name of ['implementer', 'coo'])
    assert.equal(waiting.find((agent) => agent.name === name).state, 'waiting')
  await person.reply(question.id, { body: 'The second one.' })

  const { body, status } = await architect.says('told')
  assert.equal(body, 'Write the manager, Add unit tests: done. The person says: The second one.')
  assert.equal(status, 'completed')
  console.log(`the architect is told: ${body}`)
  const { message, receipts } = await space.show(id)
  assert.deepEqual(message.attachments, ['MAILBOX_DESIGN.md'])
  assert.equal(receipts[0].state, 'archived')
  assert.deepEqual(await space.owed(), [])
})
