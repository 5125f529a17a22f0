import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Box, createBox } from '../helpers/cli.ts'

/** What a command prints to people: its text, and its warnings or error. */
const said = async (box: Box, ...words: string[]) => {
  const { code, stdout, stderr } = await box.run(words)
  return { code, stdout, stderr }
}

describe('mailbox send', () => {
  it('takes --from and --to as the argument and --as, and numbers for priorities', async () => {
    const box = await createBox('ada', 'bob', 'cy')
    const { message } = await box.json(
      ...['send', '--from', 'ada', '--to', 'bob', '--to', 'cy', '--priority', '4', '--body', 'Now.'],
    )
    expect(message).toMatchObject({ from: 'ada', to: ['bob', 'cy'], priority: 'urgent', body: 'Now.' })
    expect((await box.json('inbox', '--as', 'bob', '--min-priority', '4')).messages).toHaveLength(1)
    const two = await box.refused(2, 'send', 'bob', '--from', 'ada', '--as', 'cy', '--body', 'x')
    expect(two.message).toBe('--as cy and --from ada name two senders')
    const five = await box.refused(2, 'send', 'bob', '--priority', '5', '--body', 'x')
    expect(five.hint).toContain('1 (low) to 4 (urgent)')
  })

  it('without a recipient goes to the holders of its namespaced tags', async () => {
    const box = await createBox('ada', 'bob')
    await box.ok('update', '--as', 'ada', '--tag', 'project:x', '--tag', 'frontend')
    const sent = await box.json(
      'send',
      '--tag',
      'project:x',
      '--tag',
      'handoff',
      '--subject',
      'S',
      '--body',
      'B',
    )
    expect(sent.message).toMatchObject({ to: ['project:x'], tags: ['project:x', 'handoff'] })
    await box.ok('send', 'tag:frontend', '--body', 'For the front.')
    expect((await box.json('check', '--as', 'ada')).messages).toHaveLength(2)
    expect(await box.refused(2, 'send', '--tag', 'handoff', '--body', 'B')).toMatchObject({
      ...{ code: 'invalid', message: 'the message has no recipient' },
      hint: expect.stringContaining('project:x'),
    })
  })

  it('takes a date for its end', async () => {
    const box = await createBox('ada')
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const { message } = await box.json('send', 'ada', '--body', 'x', '--expires-at', expiresAt)
    expect(message.expiresAt).toBe(expiresAt)
    await box.refused(2, 'send', 'ada', '--body', 'x', '--expires-at', '2020-01-01')
    await box.refused(2, 'send', 'ada', '--body', 'x', '--expires-at', expiresAt, '--ttl', '1h')
  })

  it('says nothing: refused, also from an empty standard input', async () => {
    const box = await createBox('ada')
    const { message } = await box.json('send', 'ada', '--body', 'x')
    const empty = [['send', 'ada'], ['send', 'ada', '-'], ['broadcast'], ['reply', message.id, '--as', 'ada']]
    for (const words of empty) {
      const error = await box.refused(2, ...words)
      expect(error, words.join(' ')).toMatchObject({ message: 'the message is empty' })
      expect(error.hint).toContain('--body TEXT')
    }
    // A type can say something by itself, and so can data.
    await box.ok('send', 'ada', '--type', 'ack', '--reply-to', message.id)
    await box.ok('send', 'ada', '--payload', '{"n":1}')
  })

  it('says that a text without --body was taken for a recipient', async () => {
    const box = await createBox('ada')
    const error = await box.refused(2, 'send', 'user', 'hello')
    expect(error.hint).toMatch(
      /"hello" was taken for a recipient; to send that as text: .*send user --body hello/,
    )
    const unknown = await box.refused(3, 'send', 'user', 'hello', 'world', '--subject', 'S')
    expect(unknown).toMatchObject({ code: 'unknown_recipient', message: 'no agent named "hello"' })
    expect(unknown.hint).toMatch(/"hello", "world" were taken for recipients; .*--body 'hello world'/)
    // With a body, the words are recipients and nothing else.
    const other = await box.refused(3, 'send', 'user', 'hello', '--body', 'x')
    expect(other.hint).not.toContain('taken for')
  })

  it('tells the sender of a type or a role that is close to one that is known', async () => {
    const box = await createBox('ada')
    await box.ok('update', '--as', 'ada', '--role', 'librarian')
    const typo = await said(box, 'send', 'ada', '--type', 'shutdown_requst', '--body', 'x')
    expect(typo.stderr).toContain('did you mean shutdown_request?')
    const role = await said(box, 'send', 'role:librarina', '--body', 'x')
    expect(role.stderr).toContain('did you mean role:librarian?')
    expect([typo.code, role.code]).toEqual([0, 0])
  })

  it('refuses a file that is not there, relative to where it runs', async () => {
    const box = await createBox('ada')
    const missing = await box.refused(2, 'send', 'ada', '--body', 'x', '--attach', 'notes.md')
    expect(missing.message).toBe('there is no file "notes.md" to attach')
    writeFileSync(join(box.dir, '..', 'notes.md'), '')
    const { message } = await box.json('send', 'ada', '--body', 'x', '--attach', 'notes.md')
    expect(message.attachments).toEqual(['notes.md'])
    // What a handoff has changed may be gone.
    await box.ok(
      ...['handoff', 'ada', '--subject', 'S', '--work-completed', 'W', '--file-modified', 'gone.md'],
    )
  })
})

it('refuses an option that is given twice, unless it can be repeated', async () => {
  const box = await createBox('ada', 'bob')
  const twice = [
    ['send', 'ada', '--body', 'x', '--type', 'text', '--type', 'request'],
    ['--as', 'ada', '--as', 'bob', 'inbox'],
    ['check', '--as', 'ada', '--as', 'bob'],
    ['plan', 'submit', '--body', 'x', '--subject', 'a', '--subject', 'b'],
    ['log', '--limit', '1', '--limit=2'],
  ]
  for (const words of twice) {
    const option = words.findLast((word) => word.startsWith('--'))!.split('=')[0]!
    expect(await box.refused(2, ...words)).toMatchObject({
      code: 'invalid',
      message: `${option} is given twice`,
    })
  }
  await box.ok('--as', 'ada', 'inbox', '--as', 'bob')
  await box.ok('send', 'ada', '--body', 'x', '--tag', 'a', '--tag', 'b')
  await box.ok(
    'handoff',
    'ada',
    '--subject',
    'S',
    '--work-completed',
    'W',
    '--next-step',
    'a',
    '--next-step',
    'b',
  )
})

it('exits 2 for a verb that does not exist, also when its help is asked for', async () => {
  const box = await createBox()
  for (const words of [
    ['snd', '--help'],
    ['help', 'snd'],
    ['--quiet', 'snd', '-h'],
  ]) {
    const { code, stdout, stderr } = await box.run(words)
    expect({ code, stdout }, words.join(' ')).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe("error: unknown command 'snd'\nhint: did you mean send?\n")
  }
  const plan = await said(box, 'plan', 'submitt', '--help')
  expect(plan).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean submit?') })
  for (const words of [['plan', 'submit', '--help'], ['send', '--help'], ['help'], ['help', 'plan']])
    await box.ok(...words)
})

it('registers the members of a swarm and nothing that lies beside them', async () => {
  const box = await createBox()
  const agents = join(dirname(box.dir), 'dev', 'agents')
  mkdirSync(join(agents, 'folder.md'), { recursive: true })
  for (const file of ['architect.md', 'critic.md', '_template.md', 'README.md', '.hidden.md', 'notes.txt'])
    writeFileSync(join(agents, file), '')
  const joined = await box.json('join', '--swarm', dirname(agents))
  expect(joined.agents.map(({ name }) => name)).toEqual(['dev/architect', 'dev/critic'])
})

describe('a space', () => {
  it('is never a directory named after an address', async () => {
    const box = await createBox()
    const home = dirname(box.dir)
    const before = readdirSync(home)
    const hubs = ['http://localhost:7337', 'https://hub.example.org', 'HTTP://x', 'unix:/nowhere']
    const verbs = [['join', 'ada'], ['inbox'], ['send', 'user', '--body', 'x'], ['count']]
    for (const [at, space] of hubs.entries()) {
      const error = await box.refused(4, ...verbs[at]!, '--space', space)
      expect(error.message).toMatch(/^there is no token for /)
      expect(error.hint).toContain('mailbox login')
    }
    const other = await box.refused(2, 'inbox', '--space', 'ftp://u@h/db')
    expect(other).toMatchObject({ message: '"ftp://u@h/db" is an address, not a directory' })
    expect(await box.refused(2, 'serve', '--space', 'https://hub.example.org')).toMatchObject({
      message: 'mailbox serve needs the files of the space; https://hub.example.org is a hub',
      hint: 'run it on the machine of the hub: mailbox --space DIR serve',
    })
    const { code } = await box.run(['join', 'ada'], { env: { MAILBOX_SPACE: 'http://localhost:7337' } })
    expect([code, readdirSync(home)]).toEqual([4, before])
    expect(await box.ok('complete', '--', '--space', 'http://x', 'send', '')).toBe('')
  })

  it('is made by none of the verbs that only look', async () => {
    const box = await createBox()
    const looking = [
      ...[
        ['agents'],
        ['inbox'],
        ['check'],
        ['count'],
        ['sent'],
        ['search', 'x'],
        ['log'],
        ['stats'],
        ['digest'],
        ['owed'],
      ],
      ...[['dead'], ['show', 'x'], ['thread', 'x'], ['read', 'x'], ['wait', '--timeout', '1ms'], ['watch']],
      ...[['export'], ['verify'], ['rebuild'], ['ack', 'x'], ['done', 'x'], ['reply', 'x', '--body', 'y']],
      ...[
        ['withdraw', 'x'],
        ['leave', 'ada'],
        ['plan', 'approve', 'x'],
        ['claim', 'x'],
        ['token', 'ada'],
      ],
    ]
    const errors = await Promise.all(looking.map((words) => box.refused(3, ...words)))
    for (const [at, error] of errors.entries()) {
      expect(error, looking[at]!.join(' ')).toMatchObject({
        ...{ code: 'not_found', message: `there is no space in ${box.dir}` },
        hint: expect.stringContaining('mailbox join NAME'),
      })
    }
    expect(await box.ok('prompt', 'ada')).toContain('ada')
    await box.ok('config', 'get', 'pollMs')
    expect(existsSync(box.dir)).toBe(false)
    await box.ok('send', 'role:worker', '--body', 'The first one here.')
    expect((await box.json('sent')).messages).toHaveLength(1)
  })
})

describe('work is given by a verb and reads as sentences', () => {
  it('mailbox task', async () => {
    const box = await createBox('ada', 'lead')
    const { message } = await box.json(
      ...['task', 'ada', '--as', 'lead', '--subject', 'Build the lexer', '--task', 'T-7', '--within', '2h'],
    )
    expect(message).toMatchObject({
      ...{
        type: 'task_assignment',
        to: ['ada'],
        priority: 'high',
        payload: { taskId: 'T-7', withinMs: 7_200_000 },
      },
    })
    expect(await box.ok('check', '--as', 'ada')).toMatch(/Task:\*\* T-7[\s\S]*A task was assigned\./)
    expect(await box.ok('show', message.id)).toMatch(
      /about +A task was assigned\.[\s\S]*task +T-7\nwithin +2 h/,
    )
    await box.ok('done', message.id, '--as', 'ada')
    expect(await box.ok('owed', '--all')).toBe('nothing is owed\n')
  })

  it('mailbox task --after', async () => {
    const box = await createBox('ada', 'lead')
    const task = (...more: string[]) => box.json('task', 'ada', '--as', 'lead', '--subject', 'x', ...more)
    const { message: first } = await task('--task', 'T-1')
    const { message: second } = await task('--after', 'T-1', '--after', 'T-0')
    expect(second.payload).toEqual({ after: ['T-1', 'T-0'] })
    expect(await box.ok('show', second.id)).toMatch(/after +T-1/)
    expect((await box.run(['start', second.id, '--as', 'ada'])).stderr).toContain('comes after T-1')
    await box.ok('done', first.id, '--as', 'ada')
    await box.ok('start', second.id, '--as', 'ada')
  })

  it('mailbox ci-failure, with a log from standard input', async () => {
    const box = await createBox('ada', 'lead')
    const words = ['ci-failure', '--to', 'ada', '--as', 'lead', '--check', 'lint', '--pr', '12', '--log', '-']
    const { code, stdout } = await box.run([...words, '--json'], { input: 'line 42: missing semicolon\n' })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).message).toMatchObject({
      ...{ type: 'fix_ci_failure', subject: 'CI failed: lint', requiresAck: true },
      payload: { check: 'lint', pr: '12', log: 'line 42: missing semicolon\n' },
    })
    const read = await box.ok('check', '--as', 'ada')
    expect(read).toContain('The check lint failed on PR 12.')
    expect(read).toContain('### Log\n\nline 42: missing semicolon')
    expect(read).not.toMatch(/```json|\{"/)
  })

  it('mailbox review', async () => {
    const box = await createBox('ada', 'lead')
    const { message } = await box.json(
      ...['review', 'ada', '--as', 'lead', '--pr', '12', '--comment', 'src/lexer.ts:42: This never ends.'],
      ...['--comment', 'README.md: Say why.', '--comment', 'Note: add a test.'],
    )
    expect(message).toMatchObject({
      ...{ type: 'fix_review_comments', subject: '3 review comments', requiresAck: true },
      payload: {
        pr: '12',
        comments: [
          { path: 'src/lexer.ts', line: 42, body: 'This never ends.' },
          { path: 'README.md', body: 'Say why.' },
          { body: 'Note: add a test.' },
        ],
      },
    })
    const read = await box.ok('check', '--as', 'ada')
    expect(read).toContain('- src/lexer.ts:42 This never ends.\n- README.md Say why.\n- Note: add a test.')
    expect(read).not.toMatch(/```json|\{"/)
    const error = await box.refused(2, 'review', 'ada', '--to', 'bob', '--comment', 'x')
    expect(error.message).toBe('there are two recipients')
  })

  it('and so does what another program sends with a payload alone', async () => {
    const box = await createBox('ada', 'bob')
    const payload = {
      pr: 'https://example.org/pull/12',
      check: 'lint',
      error: 'Missing semicolon at line 42',
    }
    await box.ok(
      'send',
      'ada',
      '--as',
      'bob',
      '--type',
      'fix_ci_failure',
      '--payload',
      JSON.stringify(payload),
    )
    expect(await box.ok('inbox', '--as', 'ada')).toContain('CI failed: lint')
    const read = await box.ok('check', '--as', 'ada')
    expect(read).toContain('## CI failed: lint')
    expect(read).toContain(
      'The check lint failed on PR https://example.org/pull/12.\n\nMissing semicolon at line 42',
    )
    expect(read).not.toMatch(/```json|\{"/)
  })
})
