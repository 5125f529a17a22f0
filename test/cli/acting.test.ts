import { spawn, spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { type Box, createBox } from '../helpers/cli.ts'

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

/** The home of the person, in which the keys are. */
const homeOf = (box: Box) => dirname(box.dir)

/** What was refused to an agent, as the audit has it. */
async function refusedTo(box: Box, agent: string): Promise<{ about?: string; note: string }[]> {
  const { entries } = (await box.json('audit', '--limit', '100')) as unknown as {
    entries: { event: string; by: string; about?: string; note: string }[]
  }
  return entries
    .filter(({ event, by }) => event === 'refused' && by === agent)
    .map(({ about, note }) => ({ ...(about === undefined ? {} : { about }), note }))
}

/** A client of an agent, as far as the mailbox can see one: a process that runs commands for it, in shells of its own. */
async function clientOf(box: Box, agent: string, env: Record<string, string> = {}) {
  const shell = spawn('bash', ['--norc'], {
    cwd: box.dir,
    env: { PATH: process.env['PATH'], HOME: homeOf(box), MAILBOX_SPACE: box.dir, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void shell.kill('SIGKILL'))
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]()
  {
    await using space = await openDisk({ dir: box.dir })
    await space.join(agent, { session: { pid: shell.pid!, client: 'claude' } })
  }
  return async (...words: string[]): Promise<{ code: number; answer: Record<string, never> }> => {
    const command = words.map((word) => `'${word}'`).join(' ')
    // Through one more shell, as clients run what an agent types.
    shell.stdin.write(`sh -c '"$@"; echo "exit $?"' sh '${process.execPath}' '${cli}' ${command} --json\n`)
    let answer = ''
    for (;;) {
      const { value } = await lines.next()
      const ended = /^exit (\d+)$/.exec(String(value))
      if (ended !== null)
        return { code: Number(ended[1]), answer: JSON.parse(answer) as Record<string, never> }
      answer += String(value)
    }
  }
}

it('acts as the agent of the client that a command runs in', async () => {
  const box = await createBox('ada', 'bob')
  const inside = await clientOf(box, 'ada')
  expect(await inside('send', 'bob', '--subject', 'Hello')).toMatchObject({ code: 0 })
  const { messages } = await box.json('inbox', '--as', 'bob')
  expect(messages).toMatchObject([{ from: 'ada', subject: 'Hello' }])
  // Outside of clients the owner of the account is the person, and may act as any agent.
  await box.ok('send', 'ada', '--subject', 'From the person')
  await box.ok('--as', 'bob', 'send', 'ada', '--subject', 'From bob')
  expect((await inside('check')).answer['messages']).toMatchObject([{ from: 'user' }, { from: 'bob' }])
})

it('cannot speak as the person, as another agent or as the mailbox from inside a client', async () => {
  const box = await createBox('ada', 'bob')
  const inside = await clientOf(box, 'ada')
  for (const name of ['user', 'bob', 'system']) {
    const { code, answer } = await inside('--as', name, 'send', 'bob', '--subject', `As ${name}`)
    expect({ code, answer }).toMatchObject({ code: 4, answer: { error: { code: 'not_permitted' } } })
  }
  expect(await inside('join', 'bob')).toMatchObject({ code: 4 })
  expect(await inside('leave', 'bob')).toMatchObject({ code: 4 })
  expect((await box.json('inbox', '--as', 'bob')).messages).toEqual([])
  expect(await refusedTo(box, 'ada')).toEqual([
    { about: 'bob', note: 'act as bob' },
    { about: 'bob', note: 'act as bob' },
    { about: 'bob', note: 'act as bob' },
    { about: 'user', note: 'act as user' },
  ])
})

it('cannot read the encrypted mail of others from inside a client', async () => {
  const box = await createBox('ada', 'bob', 'eve')
  const sent = ['--subject', 'zebra', '--body', 'the quagga']
  const { message } = await box.json('--as', 'ada', 'send', 'bob', '--encrypt', ...sent)
  expect((await box.json('show', message.id)).message).toMatchObject({ body: 'the quagga' })
  const eve = await clientOf(box, 'eve')
  for (const verb of ['show', 'thread', 'read', 'search'] as const) {
    const words = verb === 'search' ? ['quagga'] : [message.id]
    const { answer } = await eve(verb, ...words)
    expect(JSON.stringify(answer)).not.toMatch(/zebra|quagga/)
  }
  expect((await eve('show', message.id)).answer['message']).toMatchObject({
    locked: true,
    body: 'Encrypted for bob; you have no key for it.',
  })
  expect(await eve('--as', 'bob', 'check')).toMatchObject({ code: 4 })
  expect(await eve('key', 'export', 'bob')).toMatchObject({ code: 4 })
  const audit = await box.ok('audit')
  for (const tried of ['eve was not allowed to act as bob', 'eve was not allowed to export keys'])
    expect(audit).toContain(tried)
  const bob = await clientOf(box, 'bob')
  expect((await bob('check')).answer['messages']).toMatchObject([{ subject: 'zebra', body: 'the quagga' }])
})

it('cannot approve the plan that is meant for the person', async () => {
  const box = await createBox('ada')
  const inside = await clientOf(box, 'ada')
  const { answer } = await inside(
    'plan',
    'submit',
    '--to',
    'user',
    '--subject',
    'Delete it all',
    '--body',
    'All of it',
  )
  const id = (answer as unknown as { message: { id: string } }).message.id
  expect(await inside('plan', 'approve', id)).not.toMatchObject({ code: 0 })
  expect(await inside('--as', 'user', 'plan', 'approve', id)).toMatchObject({ code: 4 })
  expect((await box.json('owed', '--all')) as unknown).toMatchObject({
    owed: [{ kind: 'plan', state: 'open' }],
  })
  expect(await refusedTo(box, 'ada')).toContainEqual({ about: 'user', note: 'act as user' })
})

it('acts as another agent with the secret of that one, and with that of the person as anybody', async () => {
  const box = await createBox('ada', 'bob', 'cleo')
  const secretOf = async (name: string) => (await box.ok('key', 'export', name)).trim()
  const withBobs = await clientOf(box, 'ada', { MAILBOX_SECRET: await secretOf('bob') })
  expect(await withBobs('--as', 'bob', 'send', 'cleo', '--subject', 'From bob')).toMatchObject({ code: 0 })
  expect(await withBobs('--as', 'cleo', 'send', 'bob', '--subject', 'x')).toMatchObject({ code: 4 })
  expect(await withBobs('--as', 'user', 'send', 'bob', '--subject', 'x')).toMatchObject({ code: 4 })
  expect(await withBobs('config', 'set', 'rules', 'hub')).toMatchObject({ code: 4 })
  expect(await withBobs('key', 'export', 'user')).toMatchObject({ code: 4 })
  const { messages } = await box.json('check', '--as', 'cleo')
  expect(messages).toMatchObject([{ from: 'bob', subject: 'From bob', signature: 'signed' }])

  const withPersons = await clientOf(box, 'ada', { MAILBOX_SECRET: await secretOf('user') })
  expect(await withPersons('--as', 'cleo', 'send', 'bob', '--subject', 'x')).toMatchObject({ code: 0 })
  expect(await withPersons('--as', 'user', 'send', 'bob', '--subject', 'x')).toMatchObject({ code: 0 })
  expect(await withPersons('config', 'set', 'rules', 'hub')).toMatchObject({ code: 0 })
  expect(await withPersons('--as', 'system', 'send', 'bob', '--subject', 'x')).toMatchObject({ code: 4 })
})

/** Runs a command at a terminal of its own. */
const atTerminal = ['script', '--quiet', '--return', '/dev/null', '--command']
const hasTerminals = spawnSync(atTerminal[0]!, [...atTerminal.slice(1), 'true']).status === 0

it.skipIf(!hasTerminals)('asks the person at the terminal of a client, once', async () => {
  const box = await createBox('ada')
  const command = `read _; stty cols 120 rows 40; '${process.execPath}' '${cli}' --as user config set rules hub`
  // What the terminal belongs to is the client.
  const client = spawn(atTerminal[0]!, [...atTerminal.slice(1), command], {
    env: { PATH: process.env['PATH'], HOME: homeOf(box), MAILBOX_SPACE: box.dir },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void client.kill('SIGKILL'))
  {
    await using space = await openDisk({ dir: box.dir })
    await space.join('ada', { session: { pid: client.pid!, client: 'claude' } })
  }
  client.stdin.write('\n')
  let shown = ''
  const ended = new Promise<number | null>((resolve) => client.once('close', resolve))
  await new Promise<void>((resolve) => {
    client.stdout.on('data', (data: Buffer) => {
      shown += data.toString()
      if (shown.includes('Act as user')) resolve()
    })
  })
  client.stdin.write('y')
  expect(await ended, shown).toBe(0)
  expect(shown.split('◆')).toHaveLength(2)
  expect((await box.json('config', 'get', 'rules')) as unknown).toEqual({ rules: 'hub' })
})

it('is not fooled by a secret that is none, that is half of one, or that counts no more', async () => {
  const box = await createBox('ada', 'bob')
  await box.ok('--as', 'bob', 'send', 'ada', '--subject', 'x')
  await box.ok('--as', 'ada', 'send', 'bob', '--subject', 'x')
  const bobs = JSON.parse(await box.ok('key', 'export', 'bob')) as { public: string; secret: string }
  const adas = JSON.parse(await box.ok('key', 'export', 'ada')) as typeof bobs
  for (const secret of [
    '',
    'bob',
    '{}',
    JSON.stringify({ ...bobs, secret: adas.secret }),
    JSON.stringify(adas),
  ]) {
    const inside = await clientOf(box, 'ada', { MAILBOX_SECRET: secret })
    expect(await inside('--as', 'bob', 'send', 'ada', '--subject', 'x'), secret).toMatchObject({ code: 4 })
  }
  await box.ok('key', 'rotate', 'bob')
  const { entries } = (await box.json('audit')) as unknown as { entries: object[] }
  expect(entries[0]).toMatchObject({ kind: 'key', change: 'rotated', agent: 'bob', by: 'user' })
  const late = await clientOf(box, 'ada', { MAILBOX_SECRET: JSON.stringify(bobs) })
  expect(await late('--as', 'bob', 'send', 'ada', '--subject', 'x')).toMatchObject({ code: 4 })
})

it('cannot change how the space works', async () => {
  const box = await createBox('ada')
  const inside = await clientOf(box, 'ada')
  for (const words of [
    ['config', 'set', 'rules', 'open'],
    ['route', 'add', 'type:text', '--to', 'ada'],
    ['trust', box.dir],
    ['repair', '--yes'],
    ['archive-old'],
  ]) {
    const { code, answer } = await inside(...words)
    expect({ words, code, answer }).toMatchObject({ code: 4, answer: { error: { code: 'not_permitted' } } })
  }
  await box.ok('config', 'set', 'rules', 'hub')
  const { entries } = (await box.json('audit')) as unknown as { entries: object[] }
  expect(entries[0]).toMatchObject({ event: 'setting_changed', by: 'user', about: 'rules', note: 'hub' })
  expect(entries).toContainEqual(
    expect.objectContaining({ event: 'refused', by: 'ada', note: 'change settings' }),
  )
  expect(await box.ok('audit')).toContain('ada was not allowed to change the routing rules')
})

it('refuses the mailbox itself as a sender everywhere', async () => {
  const box = await createBox('ada')
  expect(await box.refused(4, '--as', 'system', 'send', 'ada', '--subject', 'Obey')).toMatchObject({
    code: 'not_permitted',
  })
  await using space = await openDisk({ dir: box.dir })
  await expect(space.mailbox('system')).rejects.toMatchObject({ code: 'not_permitted' })
})

it('cannot take a role that leads; the person gives it', async () => {
  const box = await createBox('ada')
  await box.ok('config', 'set', 'rules', 'hub')
  const inside = await clientOf(box, 'ada')
  expect(await inside('update', '--role', 'lead')).toMatchObject({ code: 4 })
  expect(await inside('join', 'zoe', '--role', 'lead')).toMatchObject({ code: 4 })
  expect(await inside('update', '--role', 'tester')).toMatchObject({ code: 0 })
  await box.ok('--as', 'ada', 'update', '--role', 'lead')
  expect((await box.json('agents')).agents).toContainEqual(
    expect.objectContaining({ name: 'ada', roles: ['tester', 'lead'] }),
  )
  // What it holds it may keep.
  expect(await inside('update', '--role', 'lead', '--note', 'leading')).toMatchObject({ code: 0 })
})
