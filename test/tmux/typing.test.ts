import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { requestShutdown } from '../../src/agent/requests.ts'
import { letPass, until } from '../helpers/wait.ts'
import { agentCommand, logOf, Terminal } from './terminal.ts'

// Limits only end what hangs; on a busy machine everything takes its time.
vi.setConfig({ testTimeout: 180_000 })

/** A terminal with the fake agent as ada, a watcher for it, and bob who writes to it. */
async function withAda(options: Parameters<Terminal['agent']>[1] = {}, flags?: readonly string[]) {
  const terminal = await Terminal.open()
  const { pane, log } = terminal.agent('ada', options)
  const bob = await terminal.space.mailbox('bob')
  const watcher = terminal.watch([`ada=${pane}`], flags)
  await until('ada is attached', () => terminal.doing('ada'))
  const isShown = (id: string) =>
    until('it is shown', async () => (await terminal.state(id, 'ada')) === 'shown')
  const submitted = (count: number) =>
    until(`${count} lines`, () => (log.submitted().length >= count ? log.submitted() : undefined))
  /** Long enough for a watcher that would type to have typed. */
  const staysUntyped = async (id: string, doing: string) => {
    await until(`it says: ${doing}`, () => terminal.doing('ada')?.includes(doing))
    await letPass(300)
    expect(await terminal.ladder(id, 'ada')).not.toContain('shown')
    expect(log.submitted().some((line) => line.includes(id))).toBe(false)
  }
  return { terminal, pane, log, bob, watcher, isShown, submitted, staysUntyped }
}

describe('at an empty prompt', () => {
  it('types a message as one line, and says notified, then shown', async () => {
    const { bob, terminal, isShown, submitted, log } = await withAda()
    const { id } = await bob.send({ to: 'ada', subject: 'Plan', body: 'Where do\twe\nbegin?' })
    await isShown(id)
    expect(await terminal.ladder(id, 'ada')).toEqual(['stored', 'notified', 'shown'])
    const lines = await submitted(1)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(`Message ${id} from another agent "bob"`)
    expect(lines[0]).toContain('Where do  we ⏎ begin?')
    expect(log.keys()).toEqual([])
  })

  it('does so where the program knows no bracketed paste', async () => {
    const { bob, isShown, submitted, log } = await withAda({ bracketed: false })
    const { id } = await bob.send({ to: 'ada', body: 'one\ntwo\r\nthree' })
    await isShown(id)
    expect(await submitted(1)).toHaveLength(1)
    expect(log.bytes().includes('\x1b')).toBe(false)
  })

  it('keeps line breaks inside a bracketed paste where that is wanted', async () => {
    const { bob, isShown, submitted } = await withAda({}, ['--program', 'fake-agent', '--multiline'])
    const { id } = await bob.send({ to: 'ada', body: 'one\ntwo' })
    await isShown(id)
    expect((await submitted(1))[0]).toContain('\n# one\n# two\n# mail ')
  })

  it('acks what it saw when the message asks for that', async () => {
    const { bob, terminal, pane } = await withAda()
    const { id } = await bob.send({ to: 'ada', body: 'there?', requiresAck: true })
    expect(await bob.waitForAck(id, { timeoutMs: 30_000 })).toBe(true)
    const { receipts } = await terminal.space.show(id)
    expect(receipts[0]!.steps.at(-1)).toMatchObject({
      state: 'acked',
      by: 'ada',
      note: `seen in pane ${pane}`,
    })
  })

  it('takes the most urgent first, and cuts what is too long', async () => {
    const busyFile = await busy()
    const { bob, submitted, isShown } = await withAda({ busyFile })
    const low = await bob.send({ to: 'ada', body: 'later', priority: 'low' })
    const high = await bob.send({ to: 'ada', body: 'x'.repeat(50_000), priority: 'high' })
    await rm(busyFile)
    await isShown(low.id)
    const [first, second] = await submitted(2)
    expect(first).toContain(high.id)
    expect(first).toContain(`more characters: mailbox read ${high.id}`)
    expect(Buffer.byteLength(first!)).toBeLessThanOrEqual(2_000)
    expect(second).toContain(low.id)
  })

  it('claims mail of a role before it types it, so that one holder gets it', async () => {
    const { bob, terminal, submitted } = await withAda()
    await terminal.space.update('ada', { addRoles: ['tester'] })
    const { id } = await bob.send({ to: 'role:tester', body: 'test it' })
    expect((await submitted(1))[0]).toContain('test it')
    const { receipts } = await terminal.space.show(id)
    expect(receipts[0]).toMatchObject({ recipient: 'role:tester', state: 'shown', claimedBy: 'ada' })
  })

  it('leaves the mail of a frozen agent alone', async () => {
    const { bob, terminal, log } = await withAda()
    await terminal.space.leave('ada', { frozen: true })
    const { id } = await bob.send({ to: 'ada', body: 'for later' })
    await until('it says so', () => terminal.doing('ada')?.includes('frozen'))
    await letPass(300)
    expect(await terminal.state(id, 'ada')).toBe('stored')
    expect(log.submitted()).toEqual([])
  })
})

describe('while somebody is at it', () => {
  it('leaves a half-typed line alone, and types when it was sent', async () => {
    const { bob, terminal, pane, isShown, submitted, staysUntyped } = await withAda()
    terminal.keys(pane, '-l', 'half a thought > ')
    const { id } = await bob.send({ to: 'ada', body: 'mail' })
    await staysUntyped(id, 'somebody is typing')
    terminal.keys(pane, '-l', 'and the rest')
    terminal.keys(pane, 'Enter')
    await isShown(id)
    const [own, mail] = await submitted(2)
    expect(own).toBe('half a thought > and the rest')
    expect(mail).toContain(id)
  })

  it('waits while the pane is in copy mode', async () => {
    const { bob, terminal, pane, isShown, staysUntyped } = await withAda()
    terminal.tmux('copy-mode', '-t', pane)
    const { id } = await bob.send({ to: 'ada', body: 'mail' })
    await staysUntyped(id, 'copy mode')
    terminal.keys(pane, '-X', 'cancel')
    await isShown(id)
  })

  it('waits while keys go to several panes', async () => {
    const { bob, terminal, pane, isShown, staysUntyped } = await withAda()
    terminal.tmux('set-option', '-w', '-t', pane, 'synchronize-panes', 'on')
    const { id } = await bob.send({ to: 'ada', body: 'mail' })
    await staysUntyped(id, 'synchronized')
    terminal.tmux('set-option', '-w', '-t', pane, 'synchronize-panes', 'off')
    await isShown(id)
  })

  it('waits while the program is busy, even for urgent mail; a shutdown goes at once', async () => {
    const busyFile = await busy()
    const { bob, terminal, log, staysUntyped, isShown } = await withAda({ busyFile })
    const urgent = await bob.send({ to: 'ada', body: 'soon', priority: 'urgent' })
    await staysUntyped(urgent.id, 'busy')
    const shutdown = await requestShutdown(bob, 'ada', { reason: 'The task was called off.' })
    await isShown(shutdown.id)
    const [line] = await until('it is there', () =>
      log.submitted().length > 0 ? log.submitted() : undefined,
    )
    expect(line).toContain('SHUTDOWN')
    expect(line).toContain('The task was called off.')
    expect(await terminal.state(urgent.id, 'ada')).toBe('stored')
    await rm(busyFile)
    await isShown(urgent.id)
  })

  it('puts not even a shutdown into half a line', async () => {
    const { bob, terminal, pane, staysUntyped, isShown } = await withAda()
    terminal.keys(pane, '-l', 'rm -r build')
    const { id } = await requestShutdown(bob, 'ada')
    await staysUntyped(id, 'somebody is typing')
    terminal.keys(pane, 'Enter')
    await isShown(id)
  })
})

describe('when the program is not there', () => {
  it('gives the shell nothing that was for the agent, and types when the agent is back', async () => {
    const terminal = await Terminal.open()
    const file = join(terminal.dir, 'ada.log')
    const pane = terminal.pane('sh')
    const bob = await terminal.space.mailbox('bob')
    terminal.watch([`ada=${pane}`])
    await until('ada is attached', () => terminal.doing('ada'))
    const { id } = await bob.send({ to: 'ada', body: 'echo pwned' })
    await until('it says so', () =>
      terminal.doing('ada')?.includes('sh is in the pane; waiting for fake-agent'),
    )
    expect(terminal.screen(pane)).not.toContain('mail')
    terminal.keys(pane, '-l', agentCommand(file))
    terminal.keys(pane, 'Enter')
    await until('it is shown', async () => (await terminal.state(id, 'ada')) === 'shown')
    // The mailbox sees it on the screen a moment before the program has read it.
    expect(await until('it is in', () => logOf(file).submitted()[0])).toContain('echo pwned')
  })

  it('says that a pane has gone, and goes on in another', async () => {
    const { bob, terminal, pane, isShown, staysUntyped } = await withAda()
    terminal.pane('sh')
    terminal.tmux('kill-pane', '-t', pane)
    await until('it is gone', () => !terminal.tmux('list-panes', '-a', '-F', '#{pane_id}').includes(pane))
    // The process of its pane was its life.
    await terminal.space.join('ada')
    const { id } = await bob.send({ to: 'ada', body: 'mail' })
    await staysUntyped(id, 'is gone')
    const next = terminal.agent('ada-again')
    await until('it runs', () => terminal.screen(next.pane).includes('fake>'))
    const attached = terminal.run('attach', 'ada', '--pane', next.pane, '--program', 'fake-agent')
    expect(await attached.exit).toMatchObject({ code: 0 })
    await isShown(id)
    expect(await until('it is in', () => next.log.submitted()[0])).toContain(id)
  })

  it('calls it failed when it never appears, tells the sender, and does not type it again', async () => {
    const { bob, terminal, log } = await withAda({ silent: true }, [
      ...['--program', 'fake-agent', '--seen-ms', '800'],
    ])
    const { id } = await bob.send({ to: 'ada', subject: 'Plan', body: 'unseen' })
    const letter = await bob.wait({ replyTo: id, timeoutMs: 30_000 })
    expect(letter).toMatchObject({ from: 'system', type: 'error', subject: 'Not delivered to ada: Plan' })
    expect(letter!.body).toContain('it did not appear there')
    expect(await terminal.ladder(id, 'ada')).toEqual(['stored', 'notified', 'failed'])
    await letPass(300)
    expect(log.bytes().toString().split('unseen')).toHaveLength(2)
  })
})

async function busy(): Promise<string> {
  const { tempDir } = await import('../helpers/temp.ts')
  const file = join(tempDir(), 'busy')
  writeFileSync(file, '')
  return file
}
