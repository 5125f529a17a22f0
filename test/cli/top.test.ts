import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { askForHelp, submitPlan } from '../../src/mod.ts'
import { createBox } from '../helpers/cli.ts'
import { until } from '../helpers/wait.ts'
import { Shell } from './at-terminal.ts'

let shell: Shell
const openShell = async (environment = '') => {
  shell = await Shell.open({ environment, agents: ['ada', 'bob', 'mia'] })
}

describe('top, at a terminal', () => {
  beforeEach(() => openShell())

  it('shows who is there and what waits, and follows what happens', async () => {
    const { space } = shell
    const ada = await space.mailbox('ada')
    await submitPlan(ada, { to: 'user', subject: 'Pay by card', body: 'First the form.' })
    shell.mailbox('top')
    await shell.shows(/> +#\d+ +Pay by card +plan to approve +ada/)
    await shell.shows('a approve · x reject')
    await ada.send({ to: 'bob', subject: 'Now', body: 'x', priority: 'urgent' })
    await shell.shows(/bob +alive +1!/)
    await askForHelp(await space.mailbox('bob'), { to: 'user', subject: 'Which port?', body: '?' })
    await shell.shows('Which port?')
    for (const line of shell.lines()) expect(line.length).toBeLessThanOrEqual(80)
    expect(shell.lines()).toHaveLength(24)
    // To the last column.
    expect(shell.lines()[0]).toMatch(/ \d\d:\d\d:\d\d$/)
    shell.press('q')
    await shell.shows('ready$')
    expect(shell.screen()).not.toContain('Pay by card')
  })

  it('opens, approves, takes back, rejects with a reason, answers and finishes', async () => {
    const { space } = shell
    const [ada, bob, mia] = await Promise.all(['ada', 'bob', 'mia'].map((name) => space.mailbox(name)))
    const first = await submitPlan(ada!, { to: 'user', subject: 'Pay-by-card', body: 'Form, then webhook.' })
    const second = await submitPlan(bob!, { to: 'user', subject: 'New-search', body: 'Index first.' })
    const question = await mia!.send({ to: 'user', subject: 'Which-port', body: '?', awaitingResponse: true })
    const note = await mia!.send({ to: 'user', subject: 'Just-so', body: 'That you know.' })
    shell.mailbox('top')
    await shell.shows('Just-so')
    shell.press('Enter')
    await shell.shows('Form, then webhook.')
    await shell.shows('Number')
    shell.press('Escape')
    await shell.hides('Form, then webhook.')

    shell.press('a')
    await shell.shows('Plan approved: Pay-by-card · z undoes')
    shell.press('z')
    await shell.shows(/> +#\d+ +Pay-by-card/)
    expect((await space.owed({ by: 'user', kind: 'plan' })).map(({ id }) => id)).toContain(first.id)
    shell.press('a')
    await shell.shows(/> +#\d+ +New-search/)
    shell.press('x')
    await shell.shows('Reject: ')
    shell.type('one index, not two')
    await shell.shows('one index, not two_')
    shell.press('Enter')
    await shell.shows(/> +#\d+ +Which-port/)
    shell.press('a')
    await shell.shows('r answers it')
    shell.press('r')
    await shell.shows('Answer mia:')
    shell.type('7337, as ever')
    shell.press('Enter')
    await shell.shows(/> +#\d+ +Just-so/)
    shell.press('e')
    await shell.shows('Marked as done')
    shell.press('q')
    await shell.shows('ready$')

    const rejected = await bob!.wait({ replyTo: second.id, timeoutMs: 60_000 })
    expect(rejected).toMatchObject({ type: 'plan_approval', body: 'one index, not two' })
    expect(await ada!.wait({ replyTo: first.id, timeoutMs: 60_000 })).toMatchObject({
      payload: { approved: true },
    })
    expect((await mia!.wait({ replyTo: question.id, timeoutMs: 60_000 }))?.body).toBe('7337, as ever')
    expect((await space.show(note.id)).receipts[0]?.state).toBe('archived')
    expect(await space.owed({ by: 'user' })).toEqual([])
  })

  it('fits after a resize, and leaves the terminal as it was', async () => {
    const { space } = shell
    const ada = await space.mailbox('ada')
    for (let n = 0; n < 30; n++)
      await ada.send({ to: 'user', subject: `Question-${n}`, body: '?', awaitingResponse: true })
    shell.enter('echo before')
    await shell.shows('before')
    shell.type(shell.command('top'))
    shell.press('Enter')
    await shell.shows('1 of 30')
    for (const [width, height] of [
      [44, 12],
      [120, 40],
      [80, 24],
    ] as const) {
      shell.resize(width, height)
      await until('it fills the screen', () => {
        const drawn = shell.lines()
        return drawn[2]?.startsWith('Needs you') && drawn[height - 1]?.startsWith('Enter open')
      })
      expect(shell.lines()).toHaveLength(height)
      for (const line of shell.lines()) expect(line.length).toBeLessThanOrEqual(width)
      expect(shell.screen()).toMatch(/^mia|^ada|^bob/m)
    }
    shell.press('End')
    await shell.shows('30 of 30')
    await shell.shows(/> +#\d+ +Question-29/)
    shell.press('C-c')
    await shell.shows('ready$')
    expect(shell.screen()).toContain('before')
    expect(shell.screen()).not.toContain('Question-')
    shell.enter('echo code $?')
    await shell.shows('code 130')
    // Typing is seen again, so the terminal echoes and reads lines.
    shell.enter('echo still here')
    await until('the terminal echoes', () => shell.screen().split('still here').length > 2)
  })

  it('gives the terminal back on Ctrl-Z, and goes on', async () => {
    const ada = await shell.space.mailbox('ada')
    await ada.send({ to: 'user', subject: 'Which-port', body: '?', awaitingResponse: true })
    shell.enter('set -m')
    shell.mailbox('top')
    await shell.shows('Which-port')
    shell.press('C-z')
    await shell.hides('Which-port')
    shell.enter('echo between')
    await shell.shows('between')
    shell.enter('fg')
    await shell.shows('Which-port')
    shell.press('q')
    await shell.hides('Which-port')
  })
})

it('needs no colours, and draws none where they are not wanted', async () => {
  await openShell('NO_COLOR=1')
  const ada = await shell.space.mailbox('ada')
  await ada.send({ to: 'user', subject: 'Which-port', body: '?', awaitingResponse: true, priority: 'urgent' })
  shell.mailbox('top')
  await shell.shows(/> +#\d+ +Which-port/)
  const painted = shell.painted()
  expect(painted.split('\n').find((line) => line.includes('Which-port'))).not.toContain('\x1b')
  shell.press('q')
  await shell.shows('ready$')
})

it('prints one snapshot where there is no screen', async () => {
  const box = await createBox('ada', 'bob')
  await box.ok('--as', 'ada', 'send', 'user', '--await', '--subject', 'Which-port', '--body', '?')
  const { stdout } = await box.run(['top'])
  expect(stdout).toMatch(/Needs you {2}1 to decide, 1 agent blocked\n +#\d+ +Which-port +question +ada/)
  expect(stdout).toMatch(/^ada +waiting/m)
  expect(stdout).not.toContain('\x1b')
  const snapshot = JSON.parse((await box.run(['top', '--json'])).stdout) as {
    agents: object[]
    needs: object[]
  }
  expect(snapshot.needs).toMatchObject([{ kind: 'question', message: { subject: 'Which-port' } }])
  expect(snapshot.agents).toMatchObject([
    { name: 'ada', state: 'waiting', unread: 0 },
    { name: 'bob', state: 'alive', unread: 0 },
  ])
  // What waits for the person is no business of others.
  expect((await box.run(['--as', 'bob', 'top', '--json'])).stdout).toContain('"needs":[]')
  expect(readdirSync(join(box.dir, '..'))).not.toContain('.mailbox')
})
