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
  // Mail to a role that it has is its mail.
  await box.ok('join', 'arch', '--role', 'architect')
  const forRole = await box.json('send', 'role:architect', '--body', 'Split it?')
  await box.ok('--as', 'arch', 'check')
  expect((await box.json('--as', 'arch', 'reply', '@last', '--body', 'Yes.')).message.replyTo).toBe(
    forRole.message.id,
  )
  const wrong = await box.run(['show', '999999'])
  expect(wrong.code).toBe(3)
  await box.ok('join', 'newcomer')
  expect((await box.run(['--as', 'newcomer', 'show', '@last'])).code).toBe(3)
})

it('takes mail to a role, once it was shown to an agent, for the last that the agent saw', async () => {
  const box = await createBox()
  await box.ok('join', 'ada', '--role', 'architect')
  const { message } = await box.json('send', 'role:architect', '--subject', 'Plan', '--body', 'Shall we?')
  await box.ok('--as', 'ada', 'check')
  const { message: answer } = await box.json('--as', 'ada', 'reply', '@last', '--body', 'Yes.')
  expect(answer.replyTo).toBe(message.id)
  await box.json('send', 'role:architect', '--subject', 'Other', '--body', 'Not seen yet.')
  const { messages } = await box.json('--as', 'ada', 'search', 'is:mine')
  expect(messages.map(({ id }: { id: string }) => id)).toEqual([answer.id, message.id])
  expect((await box.json('--as', 'ada', 'search', 'shall is:mine')).messages).toHaveLength(1)
  expect((await box.json('--as', 'ada', 'search', '-is:mine')).messages).toMatchObject([{ subject: 'Other' }])
})

it('refuses a search with an unknown operator, unless it is quoted', async () => {
  const box = await createBox()
  await box.json('send', 'user', '--hold', '--subject', 'Lunch at 12:30', '--body', 'See http://example.org')
  for (const [query, says] of [
    ['fron:ada', 'did you mean from:?'],
    ['colour:red', 'operators: from:'],
  ] as const) {
    const { code, stderr } = await box.run(['search', query])
    expect(code, query).toBe(2)
    expect(stderr).toContain(says)
    expect(stderr).toContain(`search '"${query}"'`)
  }
  expect((await box.json('search', '"at 12:30"')).messages).toHaveLength(1)
  expect((await box.json('search', '12:30', 'http://example.org')).messages).toHaveLength(1)
  expect((await box.run(['search', 'colour:red', '--save', 'red'])).code).toBe(2)
  expect(await box.ok('search', '--views')).not.toContain('red')
})

it('says how a verb is used when its arguments are missing', async () => {
  const box = await createBox('ada')
  for (const [words, usage] of [
    [['show'], 'usage: mailbox show [options] <id>'],
    [['config', 'set'], 'usage: mailbox config set [options] <key> <value>'],
  ] as const) {
    const { code, stderr } = await box.run([...words])
    expect(code).toBe(2)
    expect(stderr).toContain(usage)
  }
})

it('says to whoever writes to nobody that nobody has joined', async () => {
  const box = await createBox()
  expect((await box.run(['send', 'ada', '--body', 'hi'])).stderr).toContain('no agent has joined yet')
  await box.ok('join', 'bob')
  expect((await box.run(['send', 'ada', '--body', 'hi'])).stderr).toContain('see `mailbox agents`')
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

it('takes 15m and 1500 alike wherever it takes a duration, and shows the shorter', async () => {
  const box = await createBox('ada')
  expect(await box.ok('config', 'set', 'retention.gzipAfterDays', '30d')).toContain('is now 30d')
  expect(await box.json('config', 'get', 'retention.gzipAfterDays')).toEqual({
    'retention.gzipAfterDays': 30,
  })
  expect(await box.ok('config', 'get', 'retention.gzipAfterDays')).toBe('30d\n')
  expect((await box.run(['config', 'set', 'retention.gzipAfterDays', '36h'])).code).toBe(2)
  await box.ok('config', 'set', 'ackTimeoutMs', '1500')
  expect(await box.ok('config', 'get', 'ackTimeoutMs')).toBe('1500ms\n')
  expect(await box.ok('config', 'list')).not.toContain(' in ms')
  const late = await box.run(['--as', 'ada', 'wait', '--timeout', '50'])
  expect(late).toMatchObject({ code: 6 })
  expect(late.stderr).toContain('no message within 50ms')
  for (const ttl of ['90000', '90s']) {
    const { message } = await box.json('send', 'ada', '--body', 'x', '--ttl', ttl)
    expect(Date.parse(message.expiresAt!) - Date.parse(message.createdAt)).toBe(90_000)
  }
  expect((await box.run(['tmux', 'attach', 'ada', '%0', '--seen-ms', '5'])).stderr).toContain(
    'use 100ms or more',
  )
})

it('suggests a setting, as it does options and verbs', async () => {
  const box = await createBox('ada')
  for (const words of [
    ['config', 'set', 'ackTimeout', '5m'],
    ['config', 'get', 'ackTimeout'],
  ]) {
    const { code, stderr } = await box.run(words)
    expect(code).toBe(2)
    expect(stderr).toContain('did you mean ackTimeoutMs')
  }
})

it('sends nothing that says nothing, and takes no text for a recipient in silence', async () => {
  const box = await createBox('ada')
  for (const words of [['send', 'ada'], ['send', 'user', 'hello'], ['reply', 'x'], ['broadcast']]) {
    const { code, stderr } = await box.run(words)
    expect(code, words.join(' ')).toBe(2)
    expect(stderr).toContain('the message is empty')
    expect(stderr).toContain('add --body TEXT')
  }
  expect((await box.run(['send', 'user', 'hello'])).stderr).toContain('send user --body hello')
  const unknown = await box.run(['send', 'ada', 'hello', '--subject', 'x'])
  expect(unknown.code).toBe(3)
  expect(unknown.stderr).toContain('send ada --body hello')
  expect((await box.json('search', 'hello')).messages).toEqual([])
})
