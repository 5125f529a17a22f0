import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { allVerbs } from '../../src/cli/verbs.ts'
import { createBox } from '../helpers/cli.ts'
import { startProcess } from '../helpers/processes.ts'

it('says by itself which dozen verbs one needs, and what waits now', async () => {
  const box = await createBox()
  const empty = await box.run([])
  expect(empty).toMatchObject({ code: 0, stderr: '' })
  const verbs = (await allVerbs()).map(({ name }) => name)
  const listed = [...empty.stdout.matchAll(/^ {2}(\S+) .* {2}/gm)].map((match) => match[1]!)
  expect(listed).toHaveLength(12)
  for (const name of listed) expect(verbs).toContain(name)
  expect(empty.stdout).toContain('There is no space in')

  await box.ok('join', 'ada')
  await box.ok('join', 'bob')
  expect(await box.ok()).toContain('Nothing needs you')
  await box.ok('--as', 'bob', 'send', 'ada', '--await', '--subject', 'Which-schema', '--body', '?')
  const question = ['--as', 'ada', 'send', 'user', '--await', '--subject', 'Drop-the-table', '--body', '?']
  const { message } = await box.json(...question)
  await box.ok('--as', 'bob', 'send', 'user', '--subject', 'Thanks', '--body', 'Nothing to do.')
  const home = await box.ok()
  expect(home).toContain('1 item needs you')
  expect(home).toContain('2 agents are blocked')
  expect(home).toMatch(new RegExp(`^ +${message.seq}  Drop-the-table  question from ada, .*, frees 2$`, 'm'))
  expect((await box.run([], { env: { MAILBOX_AGENT: 'ada' } })).stdout).toContain('1 unread')
})

it('takes a number, or @last, wherever it takes an id', async () => {
  const box = await createBox()
  await box.ok('join', 'ada')
  const { message } = await box.json('send', 'ada', '--subject', 'Plan', '--body', 'Shall we?')
  expect(await box.ok('inbox', '--as', 'ada')).toContain(`#${message.seq}  ${message.id}`)
  const number = String(message.seq)
  for (const handle of [number, `#${number}`, '@last', message.id])
    expect((await box.json('show', handle)).message.id, handle).toBe(message.id)
  expect((await box.json('thread', number)).messages).toHaveLength(1)
  const { message: answer } = await box.json('--as', 'ada', 'reply', number, '--body', 'Yes.')
  expect(answer.replyTo).toBe(message.id)
  // For the person, the answer is the last message now.
  expect((await box.json('read', '@last')).message.id).toBe(answer.id)
  expect((await box.json('send', 'ada', '--reply-to', '@last', '--body', 'Good.')).message.replyTo).toBe(
    answer.id,
  )
  expect(await box.json('--as', 'ada', 'done', number)).toMatchObject({ state: 'archived' })
  const wrong = await box.run(['show', '999999'])
  expect(wrong.code).toBe(3)
  await box.ok('join', 'newcomer')
  expect((await box.run(['--as', 'newcomer', 'show', '@last'])).code).toBe(3)
})

it('suggests an option from its beginning', async () => {
  const box = await createBox()
  const { code, stderr } = await box.run(['send', 'ada', '--prio', 'high', '--body', 'x'])
  expect(code).toBe(2)
  expect(stderr).toContain('did you mean --priority?')
  expect((await box.run(['send', 'ada', '--xyzzy', 'x'])).stderr).toContain('--help')
})

it('reads and writes durations as people do', async () => {
  const box = await createBox()
  expect(await box.ok('config', 'set', 'ackTimeoutMs', '30m')).toContain('ackTimeoutMs is now 30m')
  expect(await box.json('config', 'get', 'ackTimeoutMs')).toEqual({ ackTimeoutMs: 1_800_000 })
  const list = await box.ok('config', 'list')
  expect(list).toMatch(/^ackTimeoutMs +30m +15m$/m)
  expect(list).toMatch(/^silentAfterMs +24h +24h$/m)
  expect((await box.run(['config', 'set', 'ackTimeoutMs', 'soon'])).code).toBe(2)
})

it('says who one acts as, and where', async () => {
  const box = await createBox()
  await box.ok('join', 'ada', '--role', 'architect')
  await box.ok('send', 'ada', '--body', 'hi')
  expect(await box.json('--as', 'ada', 'whoami')).toMatchObject({
    ...{ agent: 'ada', joined: true, roles: ['architect'], unread: 1, dir: box.dir },
  })
  expect(await box.ok('whoami')).toMatch(/^user, the person\n/)
  expect(await box.json('--as', 'nobody', 'whoami')).toMatchObject({ joined: false, unread: 0 })
})

it('forwards a message with its text, its files and where it comes from', async () => {
  const box = await createBox()
  for (const name of ['ada', 'bob']) await box.ok('join', name)
  const { message } = await box.json(
    'send',
    'ada',
    '--subject',
    'Plan',
    '--body',
    'First the lexer.\n\nThen all.',
  )
  const { message: sent } = await box.json(
    '--as',
    'ada',
    'forward',
    '@last',
    'bob',
    '--body',
    'Is this yours?',
  )
  expect(sent).toMatchObject({ from: 'ada', to: ['bob'], subject: 'Fwd: Plan' })
  expect(sent.threadId).not.toBe(message.threadId)
  expect(sent.body).toMatch(/^Is this yours\?\n\nForwarded from user/)
  expect(sent.body).toContain(`${message.id}, `)
  expect(sent.body).toContain('> First the lexer.\n>\n> Then all.')
})

it('prints what a jq filter selects', async () => {
  const box = await createBox()
  await box.ok('join', 'ada')
  const { message } = await box.json('send', 'ada', '--body', 'hi')
  const found = await box.run(['inbox', '--as', 'ada', '--jq', '.messages[].id'])
  // Without the program, the command says so.
  if (spawnSync('jq', ['--version']).error !== undefined)
    return expect(found.stderr).toContain('jq is not installed')
  expect(found).toMatchObject({ code: 0, stdout: `${message.id}\n` })
  const wrong = await box.run(['inbox', '--as', 'ada', '--jq', '.['])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('jq:')
})

it('keeps searches under a name, for the person', async () => {
  const box = await createBox()
  await box.ok('join', 'ada')
  await box.ok('send', 'ada', '--subject', 'Loud', '--priority', 'urgent')
  await box.ok('send', 'ada', '--subject', 'Quiet')
  const saved = await box.run(['search', 'priority:urgent', '--save', 'loud'])
  expect(saved.stderr).toContain('search @loud')
  expect((await box.json('search', '@loud')).messages).toMatchObject([{ subject: 'Loud' }])
  expect((await box.json('search', '@loud', 'Quiet')).messages).toEqual([])
  expect(await box.ok('search', '--views')).toBe('@loud  priority:urgent\n')
  expect((await box.run(['--as', 'ada', 'search', 'x', '--save', 'mine'])).code).toBe(4)
  await box.ok('search', '--forget', 'loud')
  expect((await box.run(['search', '@loud'])).code).toBe(3)
  expect((await box.run(['search', 'fron:ada'])).stderr).toContain('did you mean from:?')
})

it('gives the link of the running console, at a message', async () => {
  const box = await createBox()
  await box.ok('join', 'ada')
  const { message } = await box.json('send', 'ada', '--body', 'hi')
  expect((await box.run(['open'])).code).toBe(3)
  const hub = startProcess(new URL('../../dist/cli.cjs', import.meta.url), [
    ...['--json', '--space', box.dir, 'serve', '--port', '0'],
  ])
  const { open } = JSON.parse(await hub.line(/^\{/)) as { open: string }
  expect(await box.ok('open', '--print')).toBe(`${open}\n`)
  const { origin, hash } = new URL(open)
  expect(await box.ok('open', '@last', '--print')).toBe(`${origin}/messages/${message.id}${hash}\n`)
  hub.kill('SIGTERM')
  await hub.exit
})
