import { expect, it } from 'vitest'
import { tempSpace } from '../helpers/temp.ts'

async function team() {
  const space = await tempSpace()
  await space.join('ada', { roles: ['worker'] })
  await space.join('lead')
  const [lead, ada] = [await space.mailbox('lead'), await space.mailbox('ada')]
  const task = (to: string, taskId: string, after?: string[]) =>
    lead.send({
      to,
      type: 'task_assignment',
      subject: taskId,
      payload: { taskId, ...(after ? { after } : {}) },
    })
  return { space, lead, ada, task }
}

it('work that comes after other work cannot be claimed before that is done', async () => {
  const { ada, task } = await team()
  const first = await task('ada', 'T-1')
  const second = await task('role:worker', 'T-2', ['T-1'])
  const refused = { code: 'conflict', message: expect.stringContaining('comes after T-1') }
  await expect(ada.claim(second.id)).rejects.toMatchObject(refused)
  await expect(ada.start(second.id)).rejects.toMatchObject(refused)
  expect(await ada.claimNext('worker')).toBeNull()
  expect((await ada.check()).messages.map(({ id }) => id)).toEqual([first.id])
  await ada.fail(first.id, { reason: 'no disk' })
  expect(await ada.claimNext('worker')).toBeNull()
  await ada.done(first.id)
  expect((await ada.claimNext('worker'))?.message.id).toBe(second.id)
})

it('the next work is the oldest that waits for nothing', async () => {
  const { ada, task } = await team()
  const first = await task('lead', 'T-1')
  await task('role:worker', 'T-2', [first.id])
  await task('role:worker', 'T-3', ['T-2'])
  const free = await task('role:worker', 'T-4', ['T-nobody-knows'])
  expect((await ada.claimNext('worker'))?.message.id).toBe(free.id)
})

it('a task of its own that has to wait can be read, and not begun', async () => {
  const { ada, task } = await team()
  await task('lead', 'T-1')
  const own = await task('ada', 'T-2', ['T-1'])
  expect((await ada.read(own.id)).id).toBe(own.id)
  await expect(ada.start(own.id)).rejects.toMatchObject({ code: 'conflict' })
})
