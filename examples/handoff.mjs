// An architect has settled a design and hands it to an implementer (S0). The implementer is killed in the
// middle of it and started again: the handoff is still there, with everything that was said in it, and the
// next run takes it up without being asked.
import assert from 'node:assert/strict'
import { handOff } from '../dist/mod.js'
import { play } from './stage.mjs'

await play(async ({ space, start }) => {
  const architect = await space.mailbox('architect')
  const first = start('implementer', { on: { handoff: [{ holdMs: 60_000 }] } })
  await first.says('ready')

  const { id } = await handOff(architect, {
    to: 'implementer',
    subject: 'The parser',
    template: 'implementation',
    workCompleted: 'The design, in DESIGN.md.',
    nextSteps: ['Begin with the lexer'],
    filesModified: ['DESIGN.md'],
  })
  await first.says('handling', { subject: 'The parser' })
  console.log('the implementer has begun; now it is killed')
  first.kill('SIGKILL')
  await first.exit
  assert.equal((await space.owed({ kind: 'task' })).length, 1)

  const second = start('implementer', { on: { handoff: [{ note: 'Built, 40 tests.' }] } })
  assert.equal((await second.says('ready')).generation, 2)
  await second.says('done', { id })
  const report = await architect.wait({ replyTo: id, timeoutMs: 10_000 })
  assert.equal(report.body, 'Built, 40 tests.')

  const { message, receipts } = await space.show(id)
  assert.deepEqual(message.attachments, ['DESIGN.md'])
  assert.equal(message.context.nextSteps.at(-1), 'Begin with the lexer')
  assert.equal(receipts[0].state, 'archived')
  assert.deepEqual(await space.owed(), [])
  console.log(`its second run took the handoff up and reported: ${report.body}`)
})
