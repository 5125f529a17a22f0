import { expect, it } from 'vitest'
import { Terminal, until } from './terminal.ts'

it('types mail at an empty prompt, and says notified, then shown', async () => {
  const terminal = await Terminal.open()
  const { pane, log } = terminal.agent('ada')
  const bob = await terminal.space.mailbox('bob')
  terminal.watch([`ada=${pane}`])
  await until('ada is attached', async () =>
    (await terminal.space.agents()).some(({ name }) => name === 'ada'),
  )
  const { id } = await bob.send({ to: 'ada', subject: 'Plan', body: 'Where do we\nbegin?' })
  await until('it is shown', async () => (await terminal.state(id, 'ada')) === 'shown')
  expect(await terminal.ladder(id, 'ada')).toEqual(['stored', 'notified', 'shown'])
  const [line, ...others] = await until('it is submitted', () =>
    log.submitted().length > 0 ? log.submitted() : undefined,
  )
  expect(others).toEqual([])
  expect(line).toContain(`Message ${id} from another agent "bob"`)
  expect(line).toContain('Where do we ⏎ begin?')
})
