import { describe, expect, it } from 'vitest'
import { assignTask, requestShutdown, requestStatus } from '../../src/mod.ts'
import { within } from '../helpers/scene.ts'
import { office, slowHandler, startLoop } from './loop.ts'

/** An agent whose new run is in the middle of a task that an earlier run had begun. */
async function resumed() {
  const { lead, ada } = await office()
  const { id } = await assignTask(lead, { to: 'ada', subject: 'long' })
  await ada.start(id)
  const slow = slowHandler()
  startLoop(ada, { task_assignment: slow.handler })
  await slow.begun
  return { lead, slow }
}

describe('while it takes up what an earlier run has left, an agent', () => {
  it('says how far it is', async () => {
    const { lead, slow } = await resumed()
    const asked = await requestStatus(lead, 'ada')
    const answer = await lead.wait({ replyTo: asked.id, timeoutMs: 60_000 })
    slow.finish()
    expect(answer).toMatchObject({ payload: { status: 'working' } })
  })

  it('defers a shutdown', async () => {
    const { lead, slow } = await resumed()
    const { id: request } = await requestShutdown(lead, 'ada')
    const answer = await lead.wait({ replyTo: request, timeoutMs: 60_000 })
    slow.finish()
    expect(answer).toMatchObject({ payload: { accepted: false } })
  })

  it('stops when it is told to', async () => {
    const { lead, ada } = await office()
    const { id } = await assignTask(lead, { to: 'ada', subject: 'long' })
    await ada.start(id)
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    await slow.begun
    loop.stop()
    await within(slow.told, 1_000)
    slow.finish()
  })

  it('begins nothing more once it has accepted a shutdown', async () => {
    const { lead, ada } = await office()
    const { id } = await assignTask(lead, { to: 'ada', subject: 'left over' })
    await ada.read(id)
    await ada.read((await requestShutdown(lead, 'ada')).id)
    const loop = startLoop(ada, { task_assignment: () => 'built' })
    expect(await within(loop.result)).toMatchObject({ ended: 'shutdown', handled: 0 })
  })
})
