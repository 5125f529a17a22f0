import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createAgentToken } from '../../src/hub/tokens.ts'
import { openDisk } from '../../src/space/open.ts'
import { type Box, createBox } from '../helpers/cli.ts'
import { needFaketime, wallClockAt } from '../helpers/faketime.ts'
import { stageHub } from '../helpers/hub.ts'

/** A box beside a hub: its commands know no space but the one behind the address. */
async function stageBox(options: { tls?: boolean } = {}) {
  const box = await createBox('ada', 'bob')
  const space = await openDisk({ dir: box.dir })
  onTestFinished(() => space.close())
  const stage = await stageHub({ space, ...options })
  const pin = stage.hub.fingerprint === undefined ? '' : `~${stage.hub.fingerprint}`
  const home = dirname(box.dir)
  /** Without a space in its environment. */
  const run = (words: string[], more: { input?: string; env?: Record<string, string> } = {}) =>
    box.run(words, { ...more, env: { MAILBOX_SPACE: '', ...more.env } })
  const login = (token: string, ...words: string[]) =>
    run(['login', stage.url, ...words], { input: `${token}\n` })
  const token = (name: string) => createAgentToken(box.dir, name) + pin
  return { box, stage, home, run, login, token, url: stage.url, person: stage.token + pin }
}

const filesIn = (home: string) => {
  const dir = join(home, '.config', 'agent-mailbox', 'logins')
  return existsSync(dir) ? readdirSync(dir).map((file) => join(dir, file)) : []
}

it('keeps a token where only its owner can read it, and uses it by address and by name', async () => {
  const { stage, home, run, login, url, token, person } = await stageBox()
  const made = await login(token('ada'), '--name', 'work', '--json')
  expect(JSON.parse(made.stdout)).toEqual({ url, agent: 'ada', version: '0.0.0-test', name: 'work' })
  const [file] = filesIn(home)
  expect(statSync(file!).mode & 0o777).toBe(0o600)
  // Whose it is decides who acts.
  const sent = await run(['--space', 'work', 'send', 'bob', '--body', 'hello', '--json'])
  expect(JSON.parse(sent.stdout).message).toMatchObject({ from: 'ada', to: ['bob'] })
  const byEnv = await run(['sent', '--json'], { env: { MAILBOX_SPACE: url } })
  expect(JSON.parse(byEnv.stdout).messages).toHaveLength(1)
  const other = await run(['--space', url, 'check', '--as', 'bob'])
  expect(other).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('ada cannot act as bob\nhint: use the token of bob'),
  })

  // With a second login, --as chooses, and the person is the default.
  expect(await login(person)).toMatchObject({ code: 0, stdout: `logged in to ${url} as user\n` })
  const mine = await run(['--space', url, 'check', '--as', 'ada', '--json'])
  expect(mine.code).toBe(0)
  expect((await run(['--space', url, 'stats'])).code).toBe(0)
  const asPerson = await run(['--space', url, 'send', 'ada', '--body', 'x', '--json'])
  expect(JSON.parse(asPerson.stdout).message.from).toBe('user')

  const list = await run(['login', '--json'])
  expect(JSON.parse(list.stdout).logins).toHaveLength(2)
  expect(list.stdout).not.toContain('mbx_')
  expect(await run(['logout', 'work'])).toMatchObject({ code: 0, stdout: `logged out of ${url} as ada\n` })
  expect((await run(['logout', url])).code).toBe(0)
  expect(filesIn(home)).toEqual([])
  expect((await run(['--space', url, 'inbox'])).code).toBe(4)
  expect(stage.refusals().map(({ reason }) => reason)).toEqual(['agent'])
})

it('keeps nothing that the hub does not accept, and takes no token from the command line', async () => {
  const { home, run, login, url, token } = await stageBox()
  // Not a word about HTTP.
  expect(await login('mbx_wrong')).toMatchObject({
    ...{
      code: 4,
      stderr: expect.stringMatching(/not valid\nhint: it is of another hub.*mailbox token NAME/),
    },
  })
  expect(await login('')).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no token') })
  for (const address of [`${url}/#token=mbx_x`, url.replace('//', '//ada:secret@')]) {
    const { code, stderr } = await run(['login', address], { input: 'x' })
    expect([code, stderr]).toEqual([2, expect.stringContaining('an address has no token in it')])
  }
  expect((await run(['login', url, '--token', 'mbx_x'])).code).toBe(2)
  const named = await login(token('ada'), '--name', 'a/b')
  expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be the name') })
  expect(filesIn(home)).toEqual([])
  await login(token('ada'), '--name', 'work')
  expect(await login(token('bob'), '--name', 'work')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining(`work is already ada at ${url}`),
  })
  chmodSync(filesIn(home)[0]!, 0o644)
  const open = await run(['--space', 'work', 'inbox'])
  expect(open).toMatchObject({ code: 4, stderr: expect.stringContaining('readable by other users') })
})

it('talks only to the hub that the token was made for, where it has a certificate', async () => {
  const { run, login, url, token, box } = await stageBox({ tls: true })
  const good = token('ada')
  expect(url).toMatch(/^https:/)
  expect(await login(good, '--name', 'work')).toMatchObject({ code: 0 })
  expect((await run(['--space', 'work', 'inbox'])).code).toBe(0)
  const elsewhere = `${createAgentToken(box.dir, 'bob')}~${'A'.repeat(43)}`
  const refused = await run(['inbox'], { env: { MAILBOX_SPACE: url, MAILBOX_TOKEN: elsewhere } })
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('this is not the hub') })
  // Without a fingerprint the certificate means nothing, and the hint says how to get one.
  const bare = { MAILBOX_TOKEN: createAgentToken(box.dir, 'bob').replace(/~.*/, '') }
  const unknown = await run(['inbox'], { env: { MAILBOX_SPACE: url, ...bare } })
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/of no authority.*\nhint:.*fingerprint/),
  })
  const plain = await stageBox()
  const wrong = plain.url.replace('http:', 'https:')
  const mixed = await plain.run(['inbox'], { env: { MAILBOX_SPACE: wrong, ...bare } })
  expect(mixed).toMatchObject({ code: 1, stderr: expect.stringContaining(`is at ${plain.url}`) })
})

const toDisk: string[][] = [
  ['verify'],
  ['rebuild'],
  ['repair', '--yes'],
  ['archive-old'],
  ['export'],
  ['import', '-'],
  ['token', 'ada'],
  ['key', 'list'],
  ['serve'],
  ['config', 'set', 'limits.inbox', '7'],
  ['route', 'add', 'type:x', '--to', 'ada'],
  ['audit', '--head'],
  ['join', '--swarm', '.'],
]

it('says in one sentence which verbs need the files, and what to do', async () => {
  const { run, url, person } = await stageBox()
  const env = { MAILBOX_SPACE: url, MAILBOX_TOKEN: person }
  const runs = await Promise.all(toDisk.map((words) => run([...words, '--json'], { env })))
  for (const [at, { code, stdout }] of runs.entries()) {
    expect(code, stdout).toBe(2)
    expect(JSON.parse(stdout).error).toMatchObject({
      message: expect.stringMatching(/^mailbox .* needs the files of the space; http/),
      hint: expect.stringContaining(`mailbox --space DIR ${toDisk[at]![0]}`),
    })
  }
})

/** The same question to the directory and to the hub. */
async function bothWays(box: Box, env: Record<string, string>, words: string[]) {
  const [onDisk, overHub] = await Promise.all([box.run(words), box.run(words, { env })])
  return { onDisk: { ...onDisk, stderr: '' }, overHub: { ...overHub, stderr: '' } }
}

it('answers the person the same from a directory and from a hub', async () => {
  const { box, url, person } = await stageBox()
  const { message } = await box.json('send', 'ada', '--subject', 'Plan', '--body', 'Where?', '--await')
  await box.ok('reply', message.id, '--as', 'ada', '--body', 'Here.')
  const env = { MAILBOX_SPACE: url, MAILBOX_TOKEN: person }
  const questions = [
    ['log', '--json'],
    ['show', message.id, '--json'],
    ['thread', message.id, '--json'],
    ['owed', '--json'],
    ['owed', '--to', 'nobody', '--json'],
    ['dead', '--json'],
    ['inbox', '--all', '--json'],
    ['inbox', '--as', 'ada', '--all', '--json'],
    ['search', 'plan', '--json'],
    ['audit', '--json'],
    ['route', 'test', 'ada', '--json'],
    ['route', 'list', '--json'],
    ['config', 'list', '--json'],
    ['config', 'get', 'claimTtlMs'],
    ['prompt', 'ada'],
    ['complete', '--', 'send', ''],
    ['export', '--graph'],
    ['count', '--as', 'ghost', '--json'],
    ['show', 'ffffffff', '--json'],
  ]
  for (const words of questions) {
    const { onDisk, overHub } = await bothWays(box, env, words)
    expect(overHub, words.join(' ')).toEqual(onDisk)
    expect(onDisk.stdout, words.join(' ')).not.toBe('')
  }
})

it('checks what can be checked from here', async () => {
  const { box, url, person, stage } = await stageBox()
  const env = { MAILBOX_SPACE: url, MAILBOX_TOKEN: person }
  const checks = async () => {
    const { stdout } = await box.run(['doctor', '--json'], { env })
    return (JSON.parse(stdout) as { checks: { check: string; state: string; found: string }[] }).checks
  }
  expect(await checks()).toContainEqual(
    expect.objectContaining({ check: 'hub', state: 'ok', found: expect.stringContaining('as user') }),
  )
  // The hub of a test has a version of its own.
  expect(await checks()).toContainEqual(expect.objectContaining({ check: 'version', state: 'warn' }))
  await stage.stop()
  expect(await checks()).toContainEqual(expect.objectContaining({ check: 'hub', state: 'fail' }))
})

it('leaves no trace of a token in what a process shows of itself', async () => {
  const { box, url, token } = await stageBox()
  const env = { MAILBOX_SPACE: url, MAILBOX_TOKEN: token('ada') }
  const waiting = box.start(['wait', '--timeout', 'forever'], { env })
  await waiting.says('Waiting for mail to ada')
  expect(readFileSync(`/proc/${waiting.process.pid}/cmdline`, 'utf8')).not.toContain('mbx_')
  await box.ok('send', 'ada', '--body', 'there')
  expect(await waiting.exit).toMatchObject({ code: 0, stdout: expect.stringContaining('there') })
})

it.each(['-1h', '+1h'])(
  'works where the clock is an hour off (%s), and with a hub of another version',
  async (apart) => {
    needFaketime()
    const { run, url, token } = await stageBox()
    const own = { MAILBOX_SPACE: url, ...wallClockAt(apart) }
    const tokens = { ada: token('ada'), bob: token('bob') }
    const as = async (name: 'ada' | 'bob', ...words: string[]) => {
      const { code, stdout, stderr } = await run([...words, '--json'], {
        env: { ...own, MAILBOX_TOKEN: tokens[name] },
      })
      expect(code, stdout + stderr).toBe(0)
      return JSON.parse(stdout)
    }
    const { message } = await as('ada', 'send', 'bob', '--body', 'x', '--await', '--ttl', '10m')
    expect(Math.abs(Date.parse(message.createdAt) - Date.now())).toBeLessThan(600_000)
    // What lives for ten minutes is there, and nobody is taken for dead.
    const wanted = ['--timeout', '30s']
    expect((await as('bob', 'wait', ...wanted)).message).toMatchObject({ id: message.id })
    await as('bob', 'reply', message.id, '--body', 'y')
    expect((await as('ada', 'wait', '--reply-to', message.id, ...wanted)).message).toMatchObject({
      from: 'bob',
    })
    const { agents } = await as('ada', 'agents')
    for (const { state } of agents) expect(state).toBe('alive')
    const env = { ...own, MAILBOX_TOKEN: tokens.ada }
    const shown = await run(['show', message.id], { env })
    expect(shown.stdout).toMatch(/\bnow\b|just now|\d+ ?s\b/)
    const { checks } = JSON.parse((await run(['doctor', '--json'], { env })).stdout)
    const warnings = checks.filter(({ check }: { check: string }) => ['clock', 'version'].includes(check))
    expect(warnings).toMatchObject([
      { check: 'version', state: 'warn', found: expect.stringContaining('the hub runs version 0.0.0-test') },
      {
        check: 'clock',
        state: 'warn',
        found: expect.stringMatching(/this clock is (1 h|59 min|60 min).* of the hub/),
      },
    ])
  },
)
