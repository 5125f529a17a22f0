import { describe, expect, it } from 'vitest'
import { assignTask, requestShutdown, requestStatus, respondStatus } from '../../src/mod.ts'
import { within } from '../helpers/scene.ts'
import { letPass } from '../helpers/wait.ts'
import { gate, office, slowHandler, startLoop } from './loop.ts'

describe('a task', () => {
  it('is the only one, also when there is a handler for requests for the status', async () => {
    const { lead, ada } = await office()
    const slow = slowHandler()
    let atOnce = 0
    const answered = gate()
    const loop = startLoop(ada, {
      task_assignment: async (message, context) => {
        atOnce++
        await slow.handler(message, context)
        atOnce--
      },
      status_request: async ({ id }, { mailbox }) => {
        await respondStatus(mailbox, id, { status: 'own words' })
        answered.open()
      },
      request: () => {
        expect(atOnce).toBe(0)
      },
    })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    await slow.begun
    await requestStatus(lead, 'ada')
    await within(answered.opened)
    await lead.send({ to: 'ada', type: 'request', subject: 'next' })
    await letPass(100)
    slow.finish()
    await loop.event('done', 'next')
  })

  it('is not ended by a deadline that is a month away', async () => {
    const { lead, ada } = await office()
    const slow = slowHandler()
    const loop = startLoop(ada, { task_assignment: slow.handler })
    await assignTask(lead, { to: 'ada', subject: 'Build it' })
    const { context } = await slow.begun
    await requestShutdown(lead, 'ada', { withinMs: 30 * 86_400_000 })
    await loop.event('deferred')
    // A timer that overflows would fire at once.
    await letPass(50)
    expect(context.signal.aborted).toBe(false)
    slow.finish()
  })

  it('that does not listen cannot keep an agent beyond its deadline', async () => {
    const { lead, ada } = await office()
    const begun = gate()
    const free = gate()
    const loop = startLoop(ada, {
      task_assignment: async () => {
        begun.open()
        await free.opened
      },
    })
    await assignTask(lead, { to: 'ada', subject: 'deaf' })
    await begun.opened
    await requestShutdown(lead, 'ada', { withinMs: 200 })
    try {
      expect(await within(loop.result, 2_000)).toMatchObject({ ended: 'shutdown' })
    } finally {
      free.open()
    }
  })
})
