import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stageHub } from '../../helpers/hub.ts'
import { tempDir } from '../../helpers/temp.ts'
import { FakeClient } from './stage.ts'

/** An agent in a container: its client knows an address and a token, and none of our files. */
async function stageContainer() {
  const stage = await stageHub()
  const bob = await stage.space.mailbox('bob')
  const home = tempDir()
  const client = new FakeClient(stage.space, 'session-1')
  const env = {
    ...{ HOME: home, XDG_CONFIG_HOME: '', MAILBOX_SPACE: stage.url, MAILBOX_AGENT: '' },
    MAILBOX_TOKEN: stage.agentToken('ada'),
  }
  /** Hooks run synchronously in the other tests; here the hub is in this process and has to answer. */
  const hook = (event: string, input: object = {}, more: Record<string, string> = {}) =>
    client.hookLater(event, { input, env: { ...env, ...more } })
  return { stage, bob, home, hook, client }
}

it('brings mail into a client with one address and one token', async () => {
  const { stage, bob, home, hook } = await stageContainer()
  const begun = await hook('SessionStart', { source: 'startup' })
  expect(begun.text).toContain('ada')
  expect((await stage.space.agents()).find(({ name }) => name === 'ada')).toMatchObject({
    state: 'alive',
    session: { client: 'remote:claude' },
  })
  expect((await hook('PostToolUse')).text).toBe('')
  const { id } = await bob.send({ to: 'ada', subject: 'Port', body: 'Which port?', priority: 'high' })
  expect((await hook('PostToolUse')).text).toContain('Which port?')
  expect((await hook('PostToolUse')).text).toBe('')
  expect((await bob.show(id)).receipts[0]).toMatchObject({ recipient: 'ada', state: 'shown' })
  await hook('SessionEnd')
  expect((await stage.space.agents()).find(({ name }) => name === 'ada')?.state).toBe('frozen')
  // What hooks remember is kept outside of every space.
  expect(readdirSync(home)).toEqual(['.config'])
  expect(existsSync(join(home, '.config', 'agent-mailbox', 'hubs'))).toBe(true)
})

it('is silent when the hub is down or the token is not for an agent', async () => {
  const { stage, hook } = await stageContainer()
  expect(await hook('SessionStart', {}, { MAILBOX_TOKEN: stage.token })).toMatchObject({ code: 0, text: '' })
  expect(await hook('SessionStart', {}, { MAILBOX_TOKEN: '' })).toMatchObject({ code: 0, text: '' })
  await stage.stop()
  expect(await hook('PostToolUse')).toMatchObject({ code: 0, text: '' })
})
