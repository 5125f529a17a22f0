import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { inStorm } from '../helpers/storm.ts'
import { letPass, until } from '../helpers/wait.ts'
import { hostileTexts } from './hostile.ts'
import { Terminal } from './terminal.ts'

// Limits only end what hangs; on a busy machine everything takes its time.
vi.setConfig({ testTimeout: 180_000 })

async function withShell(shell: string) {
  const terminal = await Terminal.open()
  const pane = terminal.pane(`cd ${terminal.dir} && mkdir trap && cd trap && PS1='$ ' exec ${shell}`)
  await until('the shell is there', () => terminal.screen(pane).includes('$'))
  const bob = await terminal.space.mailbox('bob')
  terminal.watch([`ada=${pane}`], [])
  await until('ada is attached', () => terminal.doing('ada'))
  const trap = join(terminal.dir, 'trap')
  return { terminal, pane, bob, trap }
}

describe.each(['sh', 'bash --norc'])('a plain %s', (shell) => {
  it('is told that mail is there, and gets nothing of it', async () => {
    const { terminal, pane, bob } = await withShell(shell)
    const { id } = await bob.send({ to: 'ada', body: 'the body', subject: 'the subject' })
    await until('it is notified', async () => (await terminal.state(id, 'ada')) === 'notified')
    await until('it is on the screen', () => terminal.screen(pane).replaceAll('\n', '').includes(id))
    await letPass(300)
    const screen = terminal.screen(pane).replaceAll('\n', '')
    expect(screen.split(id)).toHaveLength(2)
    expect(screen).toContain('# mail for ada from bob, text, normal - mailbox --as ada read ')
    expect(screen).not.toContain('the body')
    expect(screen).not.toContain('the subject')
    expect(await terminal.ladder(id, 'ada')).toEqual(['stored', 'notified'])
  })

  it('runs nothing of hostile bodies, subjects, types and names', async () => {
    const { terminal, pane, bob, trap } = await withShell(shell)
    const cases = hostileTexts(inStorm(220, 60))
    for (const [at, text] of cases.entries()) {
      const { id } = await bob.send({
        to: 'ada',
        body: text,
        subject: text.slice(0, 400),
        type: `t;touch${'$'}{IFS}t${at}`,
      })
      // The first of a notice is the one that is named in it: so that many are, some come alone.
      if (at % 20 === 0) await until('told', async () => (await terminal.state(id, 'ada')) === 'notified')
    }
    const nasty = [
      'a;touch N1',
      '$(touch N2)',
      '`touch N3`',
      "b' ; touch N4 '",
      'c\\ && touch N5',
      'd|touch N6',
      '!!',
    ]
    for (const name of nasty) {
      const { id } = await (await terminal.space.mailbox(name)).send({
        to: 'ada',
        body: 'x',
        priority: 'urgent',
      })
      await until('told', async () => (await terminal.state(id, 'ada')) === 'notified')
    }
    const ada = await terminal.space.mailbox('ada', { join: false })
    await until('all told', async () => {
      const { messages } = await ada.inbox({ unread: true, limit: 1_000 })
      return (
        messages.length === cases.length + nasty.length && messages.every(({ state }) => state === 'notified')
      )
    })
    await terminal.settled('ada')
    // The shell still works, and has run what we type here and nothing else.
    terminal.keys(pane, '-l', 'touch own')
    terminal.keys(pane, 'Enter')
    await until('it runs ours', () => existsSync(join(trap, 'own')))
    expect(readdirSync(trap)).toEqual(['own'])
    expect(terminal.screen(pane)).not.toMatch(/not found|syntax error|unexpected/i)
  })

  it('runs nothing of a message that a dying agent leaves behind unread', async () => {
    const { terminal, pane, trap } = await withShell(shell)
    // Shows a prompt, never reads, and goes: what was typed and entered is the shell's to read.
    const script = join(terminal.dir, 'dying-agent.mjs')
    const sign = join(terminal.dir, 'die')
    writeFileSync(
      script,
      `import { existsSync } from 'node:fs'
  process.stdout.write('dying> ')
  setInterval(() => existsSync(${JSON.stringify(sign)}) && process.exit(), 20)`,
    )
    const attached = terminal.run(
      'attach',
      'eve',
      '--pane',
      pane,
      '--program',
      'dying-agent',
      '--quiet-ms',
      '60',
    )
    // The pane is ada's.
    expect(await attached.exit).toMatchObject({ code: 5 })
    expect(await terminal.run('detach', 'ada').exit).toMatchObject({ code: 0 })
    expect(
      await terminal.run('attach', 'eve', '--pane', pane, '--program', 'dying-agent', '--quiet-ms', '60')
        .exit,
    ).toMatchObject({ code: 0 })
    const bob = await terminal.space.mailbox('bob')
    const body = 'x ; touch P1; `touch P3` $(touch P4) | touch P5 & touch P6 > P7 ; touch P8 #'
    const { id } = await bob.send({ to: 'eve', body })
    terminal.keys(pane, '-l', `${process.execPath} ${script}`)
    terminal.keys(pane, 'Enter')
    await until('it is entered', async () => (await terminal.ladder(id, 'eve')).includes('shown'))
    expect(terminal.screen(pane)).toContain('touch P6 > P7')
    writeFileSync(sign, '')
    await until('the shell is back', () => /\n\$[ $]*$/.test(terminal.screen(pane)))
    terminal.keys(pane, '-l', 'touch own')
    terminal.keys(pane, 'Enter')
    await until('it runs ours', () => existsSync(join(trap, 'own')))
    expect(readdirSync(trap)).toEqual(['own'])
  })
})

it('is left alone in the middle of a command of several lines', async () => {
  const { terminal, pane, bob } = await withShell('sh')
  terminal.keys(pane, '-l', 'echo "one')
  terminal.keys(pane, 'Enter')
  await until('it asks for the rest', () => terminal.screen(pane).endsWith('>'))
  const { id } = await bob.send({ to: 'ada', body: 'mail' })
  await until('it says so', () => terminal.doing('ada') === 'the program is busy')
  await letPass(300)
  expect(await terminal.state(id, 'ada')).toBe('stored')
  terminal.keys(pane, '-l', 'two"')
  terminal.keys(pane, 'Enter')
  await until('it is notified', async () => (await terminal.state(id, 'ada')) === 'notified')
  expect(terminal.screen(pane)).toContain('one\ntwo\n')
})
