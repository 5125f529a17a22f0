import { expect, it } from 'vitest'
import { Sleeper } from '../helpers/sleeper.ts'
import { until } from '../helpers/wait.ts'
import { isDesk, opener } from './stage.ts'

it('the death of an agent is recorded though nobody reads', async () => {
  const desk = await opener()
  await until('there is a desk', () => isDesk(desk))
  const process = new Sleeper()
  await desk.join('ada', { session: { pid: process.pid } })
  await process.kill()
  // Reads the journal and nothing else: most other ways to look would do what is due.
  for await (const { entry } of desk.core.follow())
    if (entry.kind === 'agent' && entry.change === 'died') {
      expect(entry.agent.name).toBe('ada')
      break
    }
})
