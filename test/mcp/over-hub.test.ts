import { expect, it } from 'vitest'
import { stageHub } from '../helpers/hub.ts'
import { connect } from '../helpers/mcp.ts'
import { tempDir } from '../helpers/temp.ts'

it('serves a mailbox behind a hub on standard input and output', async () => {
  const stage = await stageHub()
  const bob = await stage.space.mailbox('bob')
  const connectWith = (token: string) =>
    connect(stage.url, undefined, 'legacy', false, { HOME: tempDir(), MAILBOX_TOKEN: token })
  const ada = await connectWith(stage.agentToken('ada'))
  await ada.call('agents', { tags: ['project:x'] })
  const { session } = (await stage.space.agents()).find(({ name }) => name === 'ada')!
  expect(session).toMatchObject({ pid: process.pid, client: expect.stringMatching(/^remote:/) })

  const { id } = await bob.send({
    to: 'project:x',
    subject: 'Port',
    body: 'Which port?',
    awaitingResponse: true,
  })
  expect((await ada.call('check')).text).toContain('Which port?')
  const waiting = ada.call('wait', { timeoutS: 20 })
  await ada.call('send', { replyTo: id, body: '8080' })
  expect((await bob.wait({ replyTo: id, timeoutMs: 20_000 }))?.body).toBe('8080')
  await bob.send({ to: 'ada', body: 'thanks' })
  expect((await waiting).text).toContain('thanks')

  const person = await connectWith(stage.token)
  expect(await person.refused('check')).toContain('an agent cannot use the token of the person')
})
