import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { createBox } from '../helpers/cli.ts'

it('waits for an answer that another process sends, and leaves other mail alone', async () => {
  const box = await createBox('ada', 'bob')
  const asked = await box.json('send', 'bob', '--as', 'ada', '--body', 'which port?')
  const waiting = box.start([
    'wait',
    '--as',
    'ada',
    '--reply-to',
    asked.message.id,
    '--timeout',
    '30s',
    '--json',
  ])
  await box.ok('send', 'ada', '--as', 'bob', '--body', 'something else')
  const { message } = await box.json('reply', asked.message.id, '--as', 'bob', '--body', '8080')
  const { code, stdout } = await waiting.exit
  expect(code).toBe(0)
  expect(JSON.parse(stdout).message).toMatchObject({ id: message.id, body: '8080', state: 'shown' })
  expect((await box.json('inbox', '--as', 'ada', '--unread')).messages.map(({ body }) => body)).toEqual([
    'something else',
  ])
})

it('waits for several answers, and prints what came when the time is up', async () => {
  const box = await createBox('ada', 'bob')
  const ids: string[] = []
  for (const body of ['one?', 'two?'])
    ids.push((await box.json('send', 'bob', '--as', 'ada', '--body', body, '--await')).message.id)
  const [one, two] = ids as [string, string]
  const both = ['wait', '--as', 'ada', '--reply-to', one, '--reply-to', two]
  const waiting = box.start([...both, '--timeout', '30s', '--json'])
  await box.ok('reply', one, '--as', 'bob', '--body', 'ONE')
  await box.ok('reply', two, '--as', 'bob', '--body', 'TWO')
  const { code, stdout } = await waiting.exit
  expect(code).toBe(0)
  const { messages, next } = JSON.parse(stdout)
  expect(next).toBeNull()
  expect(messages.map(({ body }: { body: string }) => body).sort()).toEqual(['ONE', 'TWO'])

  await box.ok('reply', two, '--as', 'bob', '--body', 'MORE')
  const late = await box.run([...both, '--timeout', '100ms'])
  expect(late).toMatchObject({ code: 6, stdout: expect.stringContaining('MORE') })
  expect(late.stderr).toContain('error: 1 of 2 messages did not arrive within 100ms')
  await box.ok('send', 'ada', '--as', 'bob', '--body', 'LAST')
  const counted = await box.run(['wait', '--as', 'ada', '--count', '3', '--timeout', '100ms', '--json'])
  expect(counted.code).toBe(6)
  expect(JSON.parse(counted.stdout)).toMatchObject({
    messages: [{ body: 'LAST', state: 'shown' }],
    error: { code: 'timeout' },
  })
})

it('waits for an ack, and until what was asked for is settled', async () => {
  const box = await createBox('ada', 'bob')
  const sent = await box.json(
    'send',
    'bob',
    '--as',
    'ada',
    '--body',
    '-',
    '--ack',
    '--type',
    'task_assignment',
  )
  const { id } = sent.message
  const early = await box.run(['wait', '--as', 'ada', '--settled', id, '--timeout', '100ms', '--json'])
  expect(early.code).toBe(6)
  expect(JSON.parse(early.stdout)).toMatchObject({
    ...{ settled: false, error: { code: 'timeout' } },
    matters: [
      { kind: 'ack', state: 'open' },
      { kind: 'task', state: 'open', by: 'bob' },
    ],
  })
  expect(await box.refused(6, 'wait', '--as', 'ada', '--acked', id, '--timeout', '100ms')).toMatchObject({
    code: 'timeout',
  })
  const acked = box.start(['wait', '--as', 'ada', '--acked', id, '--timeout', '30s', '--json'])
  const settled = box.start(['wait', '--as', 'ada', '--settled', id.slice(0, 34), '--timeout', 'forever'])
  await box.ok('ack', id, '--as', 'bob')
  expect(await acked.exit).toMatchObject({ code: 0, stdout: `${JSON.stringify({ id, acked: true })}\n` })
  await box.ok('fail', id, '--as', 'bob', '--reason', 'it broke')
  expect(await settled.exit).toMatchObject({
    code: 0,
    stdout: `ack acked, bob  ${id}\ntask failed, bob  ${id}\n`,
  })
  expect(await box.refused(2, 'wait', '--as', 'ada', '--acked', id, '--count', '2')).toMatchObject({
    code: 'invalid',
  })
})

it('watches mail come in, one object a line, and marks nothing', async () => {
  const box = await createBox('ada')
  await box.ok('send', 'ada', '--body', 'before')
  const watching = box.start(['watch', '--as', 'ada', '--json'])
  await watching.says('before')
  await box.ok('send', 'ada', '--body', 'after')
  await watching.says('after')
  watching.process.kill('SIGINT')
  const { code, stdout } = await watching.exit
  expect(code).toBe(130)
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).message.body),
  ).toEqual(['before', 'after'])
  expect(await box.json('count', '--as', 'ada')).toMatchObject({ unread: 2 })
})

it('follows the log across processes until it is interrupted', async () => {
  const box = await createBox()
  await (await openDisk({ dir: box.dir })).close()
  const following = box.start(['log', '--follow'])
  await following.says('Nothing has happened here yet')
  expect(following.stderr()).toContain(`space ${box.place}`)
  await box.ok('join', 'ada', '--role', 'architect')
  await following.says('ada joined: role:architect')
  await box.ok('send', 'ada', '--subject', 'Plan', '--priority', 'urgent')
  await following.says('user → ada: URGENT Plan')
  await box.ok('check', '--as', 'ada')
  await following.says('ada shown: Plan')
  following.process.kill('SIGTERM')
  expect(await following.exit).toMatchObject({ code: 130 })
})

it('reads the log in pages', async () => {
  const box = await createBox('ada', 'bob', 'cy')
  const seqs = async (...words: string[]) => {
    const lines = (await box.ok('log', '--json', ...words)).trimEnd().split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line).seq as number)
  }
  expect(await seqs()).toEqual([1, 2, 3, 4])
  expect(await seqs('--limit', '2')).toEqual([3, 4])
  expect(await seqs('--after', '1', '--limit', '2')).toEqual([2, 3])
  expect(await seqs('--after', '4')).toEqual([])
})

it('ends a wait that is interrupted with 130', async () => {
  const box = await createBox('ada')
  const waiting = box.start(['wait', '--as', 'ada', '--timeout', 'forever', '--json'])
  await waiting.says('Waiting for mail to ada')
  waiting.process.kill('SIGINT')
  const { code, stdout } = await waiting.exit
  expect(code).toBe(130)
  expect(JSON.parse(stdout).error.code).toBe('interrupted')
})

it('ends quietly when its reader has seen enough', async () => {
  const box = await createBox('ada', 'bob', 'cy')
  const following = box.start(['log', '--follow', '--json'])
  await following.says('"ada"')
  following.process.stdout!.destroy()
  await box.ok('join', 'dee')
  const { code, stderr } = await following.exit
  expect(code).toBe(0)
  expect(stderr).not.toContain('EPIPE')
})

it('works in a pipe that is closed early', async () => {
  const box = await createBox('ada')
  const command = `"${process.execPath}" dist/cli.cjs --space "${box.dir}" log | head -n 1; echo "\${PIPESTATUS[0]}"`
  const shell = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  shell.stdout.on('data', (data: Buffer) => (said += data))
  await new Promise((done) => shell.once('close', done))
  expect(said.trimEnd().split('\n').at(-1)).toBe('0')
})
