import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'

it('exports everything with its kind first, and imports it once', async () => {
  const box = await createBox('ada')
  await box.ok('config', 'set', 'limits.inbox', '50')
  const input = JSON.stringify({ to: 'ada', body: 'nul \0, lone \ud800' })
  await box.run(['send', '--input', '-'], { input })
  await box.ok('send', 'ada', '--subject', 'second')
  await box.ok('check', '--as', 'ada')
  const lines = (await box.ok('export'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map((line) => Object.keys(line)[0])).toEqual(lines.map(() => 'kind'))
  expect(lines).toMatchObject([
    { kind: 'export', format: 1 },
    { kind: 'settings', settings: { 'limits.inbox': 50 } },
    { kind: 'agent', agent: { name: 'ada' } },
    { kind: 'message', message: { body: 'nul \0, lone \ud800' } },
    { kind: 'message', message: { subject: 'second' } },
    { kind: 'receipt', step: 'shown', by: 'ada', changes: [{ state: 'shown' }, { state: 'shown' }] },
  ])

  const file = join(box.dir, '..', 'mail.jsonl')
  expect(await box.json('export', '--out', file)).toEqual({ exported: 2, file })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(box.dir, '..')).filter((name) => name.startsWith('mail.jsonl'))).toEqual([
    'mail.jsonl',
  ])
  expect(await box.json('import', file)).toMatchObject({ imported: 0, skipped: 2, receipts: 0, refused: 0 })

  const other = join(box.dir, '..', 'other')
  const piped = await box.run(['--space', other, 'import', '-', '--json'], { input: readFileSync(file) })
  expect(JSON.parse(piped.stdout)).toEqual({
    ...{ imported: 2, skipped: 0, receipts: 1, agents: 1, agentsSkipped: 0, settings: 1 },
    ...{ refused: 0, refusals: [] },
  })
  expect(await box.ok('--space', other, 'export')).toBe(readFileSync(file, 'utf8'))
  const [message] = (await box.json('--space', other, 'inbox', '--as', 'ada')).messages
  const { receipts } = await box.json('show', message!.id)
  expect(await box.json('--space', other, 'show', message!.id)).toMatchObject({ receipts })
  expect(await box.ok('--space', other, 'config', 'get', 'limits.inbox')).toBe('50\n')
  expect(await box.ok('--space', other, 'log')).toMatch(/imported \(\d{4}-\d\d-\d\d\): user → ada: second/)
})

it('names each line that cannot be imported, and imports the others', async () => {
  const box = await createBox('ada')
  await box.ok('send', 'ada', '--subject', 'fine')
  const lines = (await box.ok('export')).trimEnd().split('\n')
  const bad = lines.at(-1)!
  const [id, created] = [/"id":"([^"]+)"/.exec(bad)![1]!, /"createdAt":"([^"]+)"/.exec(bad)![1]!]
  const other = (n: number) => bad.replaceAll(id, `${id.slice(0, -3)}${n}`)
  const input = Buffer.concat(
    [
      '',
      '{"message":',
      other(100).replace(`"from":"user"`, '"from":"all"'),
      other(101).replace(`"createdAt":"${created}"`, '"createdAt":"2026-02-30T00:00:00.000Z"'),
      Buffer.from([0x22, 0xff, 0x22]),
      other(102).replace('"body":""', `"body":"${'x'.repeat(1_100_000)}"`),
      'x'.repeat(17_000_000),
      other(103),
    ].map((line) => Buffer.concat([Buffer.from(line), Buffer.from('\n')])),
  )
  const said = [
    { line: 2, reason: expect.stringContaining('not JSON') },
    { line: 3, reason: 'from "all" is reserved' },
    { line: 4, reason: expect.stringContaining('createdAt must be a time') },
    { line: 5, reason: 'the line is not UTF-8' },
    { line: 6, reason: expect.stringContaining('limits.messageBytes') },
    { line: 7, reason: expect.stringContaining('the line has 17000000 bytes') },
  ]
  const space = ['--space', `${box.dir}-other`]
  const json = await box.run([...space, 'import', '--json'], { input })
  expect(json).toMatchObject({ code: 1, stderr: expect.not.stringContaining('warning') })
  expect(JSON.parse(json.stdout)).toMatchObject({ imported: 1, refused: 6, refusals: said })
  const text = await box.run([...space, 'import'], { input })
  expect(text).toMatchObject({ code: 1, stdout: expect.stringContaining('refused 6 lines') })
  for (const line of [2, 3, 4, 5, 6, 7]) expect(text.stderr).toContain(`line ${line}: `)
  // An agent does not speak for the person.
  const forged = await box.run([...space, '--as', 'ada', 'import', '--json'], { input: other(104) })
  expect(forged.code).toBe(1)
  expect(JSON.parse(forged.stdout)).toMatchObject({
    ...{ imported: 0, refusals: [{ line: 1, reason: 'ada cannot import what user did' }] },
  })
})

it('verifies and rebuilds', async () => {
  const box = await createBox('ada')
  await box.ok('send', 'ada', '--body', 'findable')
  rmSync(join(box.dir, 'index.db'))
  expect(await box.ok('verify', '--deep')).toBe('OK: 3 entries, 1 messages, 1 file\n')
  expect(await box.json('rebuild')).toMatchObject({ entries: 3 })
  expect((await box.json('search', 'findable')).messages).toHaveLength(1)
})

it('does not make a space only to look after it', async () => {
  const box = await createBox()
  for (const verb of ['verify', 'rebuild', 'export']) {
    expect(await box.refused(3, verb)).toMatchObject({ code: 'not_found' })
  }
  expect(existsSync(box.dir)).toBe(false)
})

it('finds nothing to complain about in a healthy space', async () => {
  const box = await createBox()
  expect((await box.run(['doctor'])).stdout).toContain('no space in')
  expect(existsSync(box.dir)).toBe(false)
  await box.ok('join', 'ada')
  const { ok, checks } = JSON.parse(await box.ok('doctor', '--json'))
  expect(ok).toBe(true)
  expect(checks.map(({ check, state }: { check: string; state: string }) => `${check} ${state}`)).toEqual([
    ...[
      'node ok',
      'space ok',
      'settings ok',
      'disk ok',
      'journal ok',
      'index ok',
      'encryption ok',
      'lock ok',
      'watch ok',
      'clients ok',
    ],
  ])
})

it('says what is wrong and what to do about it', async () => {
  const box = await createBox('ada')
  writeFileSync(join(box.dir, 'config.json'), '{"pollMs": "often"}')
  const { code, stdout } = await box.run(['doctor'])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^fail {2}settings .*invalid value for pollMs: "often"\n +fix the file/m)
})

it('shows and changes settings', async () => {
  const box = await createBox()
  expect(await box.ok('config', 'get', 'pollMs')).toBe('500ms\n')
  await box.ok('config', 'set', 'pollMs', '250')
  expect(await box.json('config', 'get', 'pollMs')).toEqual({ pollMs: 250 })
  expect(await box.json('config', '--json', 'list')).toMatchObject({
    settings: { pollMs: 250, durability: 'disk' },
  })
})

it('finds the space by option, by environment, and upward from where it is', async () => {
  const box = await createBox()
  const project = join(dirname(box.dir), 'project')
  mkdirSync(join(project, '.mailbox'), { recursive: true, mode: 0o700 })
  mkdirSync(join(project, 'deep', 'down'), { recursive: true })
  await box.ok('join', 'by-environment')
  await box.ok('--space', join(project, '.mailbox'), 'join', 'by-option')
  const names = (stdout: string) => JSON.parse(stdout).agents.map(({ name }: { name: string }) => name)
  const upward = await box.run(['agents', '--json'], {
    cwd: join(project, 'deep', 'down'),
    env: { MAILBOX_SPACE: '' },
  })
  expect(names(upward.stdout)).toEqual(['user', 'by-option'])
  expect(names(await box.ok('agents', '--json'))).toEqual(['user', 'by-environment'])
})

it('acts as MAILBOX_AGENT says, unless --as says otherwise', async () => {
  const box = await createBox('ada', 'bob')
  const env = { MAILBOX_AGENT: 'ada' }
  const from = async (...words: string[]) =>
    JSON.parse((await box.run([...words, '--json'], { env })).stdout).message.from
  expect(await from('send', 'user', '--body', 'x')).toBe('ada')
  expect(await from('--as', 'bob', 'send', 'user', '--body', 'x')).toBe('bob')
})

it('prints an id and nothing else when it is to be quiet', async () => {
  const box = await createBox()
  expect(await box.run(['join', 'ada', '--quiet'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const { stdout, stderr } = await box.run(['send', 'ada', '--body', 'x', '--quiet'])
  expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/)
  expect(stderr).toBe('')
  expect(await box.run(['ack', stdout.trim(), '--as', 'ada', '--quiet'])).toMatchObject({
    code: 0,
    stdout: '',
  })
})

it('tells that it made a space', async () => {
  const box = await createBox()
  expect((await box.run(['join', 'ada'])).stderr).toContain(`Created a space in ${box.dir}`)
  expect((await box.run(['join', 'bob'])).stderr).toBe('')
})
