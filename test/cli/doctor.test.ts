import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Finding } from '../../src/cli/checkup.ts'
import { type Box, createBox } from '../helpers/cli.ts'

async function encryption(box: Box, env: Record<string, string> = {}): Promise<Omit<Finding, 'check'>> {
  const { stdout } = await box.run(['doctor', '--json'], { env })
  const { checks } = JSON.parse(stdout) as { checks: Finding[] }
  const { check: _, ...finding } = checks.find(({ check }) => check === 'encryption')!
  return finding
}

it('says that nothing is encrypted, and whose key nobody knows yet', async () => {
  const box = await createBox('ada', 'bob')
  expect(await encryption(box)).toEqual({
    state: 'ok',
    found: 'new mail is not encrypted; no key yet: user, ada, bob',
  })
  await box.ok('send', 'bob', '--as', 'ada', '--body', 'hi')
  expect((await encryption(box)).found).toBe('new mail is not encrypted; no key yet: user, bob')
})

it('says what is encrypted, and whether this account can read it', async () => {
  const box = await createBox('ada', 'bob')
  await box.ok('send', 'ada', '--as', 'bob', '--body', 'for you alone', '--encrypt')
  await box.ok('config', 'set', 'encrypt', 'space')
  for (const to of ['ada', 'user']) await box.ok('send', to, '--as', 'bob', '--body', 'for everybody here')
  await box.ok('send', 'bob', '--as', 'ada', '--body', 'thanks')
  await box.ok('send', 'bob', '--body', 'well done')
  const found =
    'the text of all new mail is encrypted; encrypted so far: 4 messages for everybody in the space, 1 message for their recipients alone'
  expect(await encryption(box)).toEqual({ state: 'ok', found: `${found}; all of it can be read here` })
  // Another account has none of the keys.
  const stranger = await encryption(box, { HOME: join(box.dir, '..', 'stranger') })
  expect(stranger).toEqual({
    state: 'warn',
    found: `${found}; there is no key here for new mail`,
    next: 'restore a key that can read it: mailbox key restore NAME FILE',
  })
})

it('counts the messages that cannot be read, and names whose key was revoked', async () => {
  const box = await createBox('ada', 'bob')
  await box.ok('send', 'ada', '--as', 'bob', '--body', 'for you alone', '--encrypt')
  await box.ok('send', 'bob', '--as', 'ada', '--body', 'thanks')
  await box.ok('send', 'ada', '--body', 'hello')
  const stranger = await encryption(box, { HOME: join(box.dir, '..', 'stranger') })
  expect(stranger).toEqual({
    state: 'warn',
    found:
      'new mail is not encrypted; encrypted so far: 1 message for their recipients alone; none of it can be read here',
    next: 'restore a key that can read it: mailbox key restore NAME FILE',
  })
  await box.ok('key', 'revoke', 'bob')
  expect((await encryption(box)).found).toMatch(/all of it can be read here; key revoked: bob$/)
})
