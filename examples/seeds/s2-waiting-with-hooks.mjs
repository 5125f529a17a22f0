// S2: the waiting pattern with the hooks of the Claude Agent SDK. A worker asks for help and stops; SubagentStop
// reports that somebody is stuck. The coordinator answers while the worker is away. When it resumes,
// UserPromptSubmit puts the answer into its context, and PostToolUse keeps count of its mail.
//
// With the SDK itself this is one line: query({ prompt, options: { hooks: mailboxHooks(mailbox) } }). Here the
// hooks are called as the SDK calls them, so that no model is needed.
import assert from 'node:assert/strict'
import { askForHelp, mailboxHooks, runLead } from '../../dist/mod.js'
import { tell } from './cast.mjs'

/** A session of the SDK, without the model: `fire` is what happens at an event. */
function session(mailbox, say) {
  const onState = ({ unread, waitingForResponse }) =>
    say('state', { unread: unread.unread, waitingForResponse })
  const hooks = mailboxHooks(mailbox, { onState })
  return (event) => {
    const [{ hooks: callbacks }] = hooks[event]
    const { signal } = new AbortController()
    return callbacks[0]({ hook_event_name: event }, undefined, { signal })
  }
}

const cast = {
  worker: {
    join: { session: { id: 'beads-xyz' } },
    run: async ({ mailbox, say }) => {
      const fire = session(mailbox, say)
      await fire('UserPromptSubmit')
      const { id } = await askForHelp(mailbox, {
        to: 'role:coordinator',
        body: 'Which port does the API use?',
      })
      await fire('PostToolUse')
      const { systemMessage } = await fire('SubagentStop')
      say('stopped', { id, systemMessage })
      await mailbox.leave({ frozen: true })
    },
  },
  coordinator: {
    join: { roles: ['coordinator'] },
    run: ({ mailbox, signal }) =>
      runLead(mailbox, { help_request: ({ body }) => `${body} 8080.` }, { signal }),
  },
  resumed: {
    join: { session: { id: 'beads-xyz' } },
    run: async ({ mailbox, say, signal }) => {
      const fire = session(mailbox, say)
      const { hookSpecificOutput } = await fire('UserPromptSubmit')
      say('prompt', { context: hookSpecificOutput.additionalContext })
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      const after = await fire('PostToolUse')
      say('tool', { context: after.hookSpecificOutput?.additionalContext ?? '' })
    },
  },
}

await tell(import.meta.url, cast, async ({ space, start }) => {
  const person = await space.mailbox('user')
  const worker = await start('worker')
  const { id, systemMessage } = await worker.says('stopped')
  await worker.exit
  assert.match(systemMessage, new RegExp(`worker is stuck waiting for role:coordinator.*${id}`))
  console.log(`the orchestrator is told: ${systemMessage.split('.')[0]}`)
  assert.deepEqual(
    (await space.owed()).map(({ kind, from }) => `${kind} of ${from}`),
    ['question of worker'],
  )

  await start('coordinator')
  await person.waitUntilSettled(id, { timeoutMs: 30_000 })
  const resumed = await start('resumed', 'worker')
  const { context } = await resumed.says('prompt')
  assert.match(context, /Which port does the API use\? 8080\./)
  assert.deepEqual(await resumed.says('state'), { event: 'state', unread: 0, waitingForResponse: false })
  console.log('it resumes with the answer in its context')

  await person.send({ to: 'worker', subject: 'The API has moved', priority: 'urgent' })
  await person.send({ to: 'worker', subject: 'For later' })
  resumed.stop()
  const { context: news } = await resumed.says('tool')
  assert.match(news, /The API has moved/)
  assert.doesNotMatch(news, /For later/)
  assert.equal((await resumed.says('state')).unread, 1)
  console.log('urgent mail reaches it after its next tool call; the rest is counted')
  assert.deepEqual(await space.owed(), [])
})
