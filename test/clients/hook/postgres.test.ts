import { expect, it } from 'vitest'
import { openSpace } from '../../../src/space/open.ts'
import { freshAddress } from '../../helpers/postgres.ts'
import { tempDir } from '../../helpers/temp.ts'
import { FakeClient } from './stage.ts'

it('a hook brings mail from a space that is named by its address', async () => {
  const url = await freshAddress()
  await using space = await openSpace({ url, dir: tempDir() })
  const client = new FakeClient(space, 'session-1')
  const env = { MAILBOX_SPACE: url, HOME: tempDir(), XDG_CACHE_HOME: tempDir() }
  expect(client.hook('SessionStart', { env }).code).toBe(0)
  const [agent] = (await space.agents()).filter(({ name }) => name !== 'user')
  const bob = await space.mailbox('bob')
  await bob.send({ to: agent!.name, subject: 'Plan', body: 'Ready.', priority: 'urgent' })
  expect(client.hook('PostToolUse', { env }).text).toContain('Plan')
})
