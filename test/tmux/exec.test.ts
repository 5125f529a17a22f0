import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { letPass, until } from '../helpers/wait.ts'
import { Terminal } from './terminal.ts'

// Limits only end what hangs; on a busy machine everything takes its time.
vi.setConfig({ testTimeout: 180_000 })

/** A command that notes what it was given, and ends as its file says. */
function deliverer(terminal: Terminal, ends: string): { command: string; got: () => Got[] } {
  const [script, log] = [join(terminal.dir, 'deliver.mjs'), join(terminal.dir, 'delivered.log')]
  writeFileSync(
    script,
    `import { appendFileSync, readFileSync } from 'node:fs'
const { message } = JSON.parse(readFileSync(0, 'utf8'))
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('MAILBOX_')))
appendFileSync(${JSON.stringify(log)}, JSON.stringify({ message, env }) + '\\n')
${ends}
`,
  )
  chmodSync(script, 0o700)
  const got = () =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => line.endsWith('}'))
          .map((line) => JSON.parse(line) as Got)
      : []
  return { command: `${process.execPath} ${script}`, got }
}

interface Got {
  message: { id: string; body: string }
  env: Record<string, string>
}

it('hands mail to a command: whole on its standard input, fields in its environment', async () => {
  const terminal = await Terminal.open()
  const { command, got } = deliverer(terminal, '')
  const bob = await terminal.space.mailbox('bob')
  terminal.watch(['ada'], ['--exec', command])
  await until('ada is attached', () => terminal.doing('ada'))
  const body = '$(touch pwned) `touch pwned`\u0000\n; exit 1'
  const subject = "'; exit 1; '$(exit 1)"
  const { id } = await bob.send({ to: 'ada', body, subject, requiresAck: true })
  expect(await bob.waitForAck(id, { timeoutMs: 30_000 })).toBe(true)
  expect(await terminal.ladder(id, 'ada')).toEqual(['stored', 'notified', 'shown', 'acked'])
  expect(got()).toHaveLength(1)
  expect(got()[0]!.message).toMatchObject({ id, body, subject })
  expect(got()[0]!.env).toMatchObject({
    ...{ MAILBOX_AGENT: 'ada', MAILBOX_FROM: 'bob', MAILBOX_ID: id, MAILBOX_SUBJECT: subject },
    ...{ MAILBOX_TYPE: 'text', MAILBOX_PRIORITY: 'normal', MAILBOX_ATTEMPT: '1' },
  })
})

it('leaves to the hooks of a client what is not worth a turn', async () => {
  const terminal = await Terminal.open()
  const { command, got } = deliverer(terminal, '')
  const bob = await terminal.space.mailbox('bob')
  await terminal.space.join('ada', { session: { pid: process.pid, client: 'claude', id: 'one' } })
  const text = await bob.send({ to: 'ada', body: 'a note', priority: 'high' })
  const question = await bob.send({ to: 'ada', body: 'a question', awaitingResponse: true })
  terminal.watch(['ada'], ['--exec', command])
  await until('the question is shown', async () => (await terminal.state(question.id, 'ada')) === 'shown')
  expect(got().map(({ message }) => message.body)).toEqual(['a question'])
  expect(await terminal.state(text.id, 'ada')).toBe('stored')
})

it('tries a command again, and says so when it fails for good', async () => {
  const terminal = await Terminal.open()
  const { command, got } = deliverer(
    terminal,
    "process.exit(message.body === 'bad' || process.env.MAILBOX_ATTEMPT === '1' ? 3 : 0)",
  )
  const bob = await terminal.space.mailbox('bob')
  // What the worker reads of the space's settings.
  writeFileSync(join(terminal.spaceDir, 'config.json'), JSON.stringify({ maxAttempts: 2 }))
  terminal.watch(['ada'], ['--exec', command])
  await until('ada is attached', () => terminal.doing('ada'))
  const bad = await bob.send({ to: 'ada', body: 'bad', subject: 'Bad' })
  const good = await bob.send({ to: 'ada', body: 'good' })
  const letter = await bob.wait({ replyTo: bad.id, timeoutMs: 30_000 })
  expect(letter).toMatchObject({ from: 'system', subject: 'Not delivered to ada: Bad' })
  expect(letter!.body).toContain('The command for ada exited with 3, after 2 attempts.')
  expect(await terminal.ladder(bad.id, 'ada')).toEqual(['stored', 'notified', 'failed'])
  await until('the next is shown', async () => (await terminal.state(good.id, 'ada')) === 'shown')
  expect(got().map(({ message, env }) => `${message.body} ${env['MAILBOX_ATTEMPT']}`)).toEqual([
    ...['bad 1', 'bad 2', 'good 1', 'good 2'],
  ])
})

it('does not run a command again that a killed worker had started', async () => {
  const terminal = await Terminal.open()
  const { command, got } = deliverer(terminal, 'await new Promise((done) => setTimeout(done, 800))')
  const bob = await terminal.space.mailbox('bob')
  terminal.watch(['ada'], ['--exec', command])
  const pid = await until('a worker', () => terminal.workerPid())
  const { id } = await bob.send({ to: 'ada', body: 'once' })
  await until('it runs', () => got().length > 0)
  process.kill(pid, 'SIGKILL')
  await until('it is shown', async () => (await terminal.state(id, 'ada')) === 'shown')
  await letPass(300)
  expect(got()).toHaveLength(1)
  expect(terminal.workerPid()).not.toBe(pid)
})
