import { describe, expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'
import { agentDraft, messageDraft } from '../helpers/drafts.ts'
import { tempSpace } from '../helpers/temp.ts'
import { exported } from '../helpers/transfer.ts'

const codeOf = (work: Promise<unknown>) => work.then(() => 'fine').catch(({ code }) => code)

describe('the name of an agent', () => {
  it('looks like no other in the roster, alive, frozen or dead', async () => {
    const space = await tempSpace()
    for (const name of ['ada', 'ice', 'gone']) await space.join(name)
    await (await space.mailbox('ice')).leave({ frozen: true })
    await (await space.mailbox('gone')).leave()
    for (const name of ['Ada', 'аda', 'ａｄａ', 'ICE', 'Gone']) {
      const refused = await space.join(name).catch((error) => error)
      expect(refused.code, name).toBe('conflict')
      expect(refused.message).toMatch(/looks like "(ada|ice|gone)"/)
      expect(await codeOf(space.mailbox(name))).toBe('conflict')
    }
    // Capitals alone are fine, and whoever is there goes on.
    await space.join('Bob')
    expect(await codeOf(space.join('bob'))).toBe('conflict')
    for (const name of ['ada', 'ice', 'gone', 'Bob']) expect(await codeOf(space.join(name))).toBe('fine')
  })

  it('looks like no reserved one', async () => {
    const space = await tempSpace()
    for (const name of ['User', 'usеr', 'SYSTEM', 'All', 'ｕｓｅｒ'])
      expect(await codeOf(space.join(name)), name).toBe('invalid')
    expect(await codeOf(space.join('user'))).toBe('fine')
  })

  it('has no invisible character', async () => {
    const space = await tempSpace()
    const invisible = [
      '\ufe0f',
      '\u034f',
      '\u{e0101}',
      '\u3164',
      '\u115f',
      '\u17b4',
      '\ufffc',
      '\u{1bca0}',
      '\u{13430}',
    ]
    for (const char of invisible)
      for (const name of [`user${char}`, `a${char}da`])
        expect(await codeOf(space.join(name)), name.codePointAt(4)?.toString(16)).toBe('invalid')
  })

  it('is suggested to whoever writes to one that looks like it, and no mail waits for that one', async () => {
    const space = await tempSpace()
    await space.join('ada')
    const bob = await space.mailbox('bob')
    for (const hold of [false, true]) {
      const refused = await bob.send({ to: 'аdа', hold }).catch((error) => error)
      expect(refused.code).toBe('unknown_recipient')
      expect(refused.hint).toContain('did you mean ada')
    }
    const toPerson = await bob.send({ to: 'ｕｓｅｒ', hold: true }).catch((error) => error)
    expect(toPerson.hint).toContain('did you mean user')
  })

  it('that a client is given passes over those that look like another', async () => {
    const space = await tempSpace()
    await space.join('claude-l')
    expect(await space.joinAs({ client: 'claude', session: { pid: process.pid } })).toMatchObject({
      name: 'claude-2',
    })
  })

  it('stays what it was for whoever joined under an earlier version', async () => {
    const space = await tempSpace()
    await space.join('ada')
    // Written as it was then: nothing checks what is in the journal.
    const old = ['Ada', 'heart \u2764\ufe0f', 'User']
    for (const name of old)
      await space.core.record('directory', () => [
        agentDraft({ name, roles: ['role\ufe0f'], tags: ['tag\ufe0f'] }),
      ])
    const bob = await space.mailbox('bob')
    for (const name of old) {
      const mailbox = await space.mailbox(name)
      await space.join(name)
      await mailbox.update({ addRoles: ['tester'], note: 'here' })
      await bob.send({ to: name, subject: name })
      expect((await mailbox.check()).messages.map(({ subject }) => subject)).toEqual([name])
    }
    expect(await codeOf(space.join('ADA'))).toBe('conflict')
    expect(await codeOf(space.join('user'))).toBe('fine')
  })

  it('is checked on the way in from another space, too', async () => {
    const space = await tempSpace()
    await space.join('ada')
    const other = await tempSpace()
    for (const name of ['Ada', 'Eve']) await other.join(name)
    const lines = await exported(other)
    const { agents, refusals } = await space.importMessages(lines)
    expect(agents).toBe(1)
    expect(refusals.map(({ reason }) => reason)).toEqual([expect.stringContaining('looks like "ada"')])
    const posing = {
      kind: 'message',
      at: '2026-01-02T03:04:05.678Z',
      message: messageDraft({ from: 'uѕer' }).message,
    }
    expect((await space.importMessages([posing])).refusals[0]?.reason).toContain('looks like "user"')
  })

  it('is refused on the command line with the other one in the message', async () => {
    const box = await createBox('ada')
    const { code, stderr } = await box.run(['join', 'Ada'])
    expect(code).toBe(5)
    expect(stderr).toContain('looks like "ada"')
    expect((await box.run(['join', 'uѕer'])).code).toBe(2)
  })
})
