import { expect, test } from 'vitest'
import { prerequisites } from '../../src/conversation/task.ts'

test('a task comes after those that it names, and no other message does', () => {
  expect(prerequisites({ type: 'task_assignment', payload: { after: ['T-1', 7, 'T-2', null] } })).toEqual([
    'T-1',
    'T-2',
  ])
  expect(prerequisites({ type: 'plan_submission', payload: { after: ['T-1'] } })).toEqual([])
  for (const payload of [undefined, {}, { after: 'T-1' }, { after: { 0: 'T-1', length: 1 } }])
    expect(prerequisites({ type: 'task_assignment', ...(payload && { payload }) })).toEqual([])
})
