// A critic is asked to review a change and answers with a verdict (S0): words for people in the body,
// and the verdict itself in the payload, where a program can act on it.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { play } from './stage.mjs'

await play(async ({ space, start }) => {
  const implementer = await space.mailbox('implementer')
  const verdict = {
    verdict: 'changes_requested',
    issues: [{ file: 'lexer.ts', line: 12, severity: 'high', text: 'An empty input is not handled.' }],
  }
  const critic = start('critic', {
    roles: ['critic'],
    on: {
      request: [{ reply: { body: 'One thing has to change.', payload: verdict } }, { note: 'reviewed' }],
    },
  })
  await critic.says('ready')

  const request = await implementer.send({
    to: 'role:critic',
    type: 'request',
    subject: 'Review: the lexer',
    awaitingResponse: true,
    attachments: [fileURLToPath(import.meta.url)],
  })
  const answer = await implementer.wait({ replyTo: request.id, timeoutMs: 10_000 })
  assert.equal(answer.from, 'critic')
  assert.equal(answer.threadId, request.threadId)
  assert.deepEqual(answer.payload, verdict)
  await critic.says('done', { id: request.id })
  assert.deepEqual(await space.owed(), [])
  console.log(`${answer.payload.verdict}: ${answer.payload.issues[0].text}`)
})
