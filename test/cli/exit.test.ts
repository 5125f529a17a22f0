import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'

it('exits 1 when something is broken that no other code names', async () => {
  const box = await createBox('ada')
  const file = join(box.dir, 'journal', '00000001.jsonl')
  writeFileSync(file, readFileSync(file, 'utf8').replace('"joined"', '"JOINED"'))
  const { code, stdout } = await box.run(['verify'])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^damaged: /)
})

it('exits 2 for what commander refuses, with a hint, and as JSON on request', async () => {
  const box = await createBox()
  const { code, stderr } = await box.run(['snd', 'ada'])
  expect(code).toBe(2)
  expect(stderr).toBe("error: unknown command 'snd'\nhint: did you mean send?\n")
  expect(await box.refused(2, 'send', 'ada', '--subjekt', 'x')).toEqual({
    code: 'invalid',
    message: "unknown option '--subjekt'",
    hint: 'did you mean --subject?',
  })
  expect(await box.refused(2, 'fail', 'x')).toMatchObject({ code: 'invalid' })
})

it('exits 2 for input that makes no sense', async () => {
  const box = await createBox('ada')
  const bad = [
    ['send', '--body', 'to nobody'],
    ['send', 'ada', '--priority', 'whenever'],
    ['send', 'ada', '--ttl', 'soon'],
    ['send', 'ada', '--payload', '{"a":1,"a":2}'],
    ['send', 'ada', '--context', '[]'],
    ['send', 'ada', '--body', 'once', '--body-file', 'twice'],
    ['check', '--budget', 'none'],
    ['update', '--as', 'ada'],
    ['claim'],
    ['config', 'set', 'pollMs', 'often'],
    ['search', 'plan', '--limt', '3'],
  ]
  await Promise.all(bad.map((words) => box.refused(2, ...words)))
})

it('exits 3 for a message, a recipient or an agent that is not there', async () => {
  const box = await createBox('ada')
  expect(await box.refused(3, 'show', 'ffffffff')).toMatchObject({ code: 'not_found' })
  expect(await box.refused(3, 'send', 'nobody', '--body', 'x')).toMatchObject({ code: 'unknown_recipient' })
  for (const verb of ['check', 'inbox', 'count', 'sent', 'watch']) {
    const error = await box.refused(3, verb, '--as', 'ghost')
    expect(error).toEqual({
      code: 'not_found',
      message: 'no agent named "ghost"',
      hint: 'join first: mailbox join ghost',
    })
  }
  expect(await box.refused(3, 'send', 'ada', '--body', 'x', '--as', 'ghost')).toMatchObject({
    code: 'not_found',
  })
})

it('exits 4 for what one may not do', async () => {
  const box = await createBox('ada', 'bob')
  const { message } = await box.json('send', 'ada', '--as', 'bob', '--body', 'x')
  expect(await box.refused(4, 'ack', message.id, '--as', 'bob')).toMatchObject({ code: 'not_permitted' })
  expect(await box.refused(4, 'withdraw', message.id, '--as', 'ada')).toMatchObject({ code: 'not_permitted' })
  expect(await box.refused(4, 'leave')).toMatchObject({ code: 'not_permitted' })
})

it('exits 4 for a space that others could read', async () => {
  const box = await createBox()
  mkdirSync(box.dir)
  chmodSync(box.dir, 0o755)
  expect(await box.refused(4, 'join', 'ada')).toMatchObject({ hint: `make it private: chmod 700 ${box.dir}` })
})

it('exits 5 when somebody else was first', async () => {
  const box = await createBox('ada')
  const { message } = await box.json('send', 'ada', '--body', 'x')
  await box.ok('check', '--as', 'ada')
  expect(await box.refused(5, 'withdraw', message.id)).toMatchObject({ code: 'conflict' })
})

it('exits 6 when the time is up', async () => {
  const box = await createBox('ada')
  expect(await box.refused(6, 'wait', '--as', 'ada', '--timeout', '50ms')).toMatchObject({ code: 'timeout' })
})

it('exits 7 over a limit and names it', async () => {
  const box = await createBox('ada')
  await box.ok('config', 'set', 'limits.messageBytes', '10')
  const error = await box.refused(7, 'send', 'ada', '--body', 'more than ten bytes')
  expect(error).toMatchObject({ code: 'over_limit' })
  expect(error.message).toContain('limits.messageBytes')
})

it('does what it can of several, and exits with the first refusal', async () => {
  const box = await createBox('ada')
  const { message } = await box.json('send', 'ada', '--body', 'x')
  const { code, stdout, stderr } = await box.run(['ack', 'ffffffff', message.id, '--as', 'ada', '--json'])
  expect(code).toBe(3)
  expect(JSON.parse(stdout)).toMatchObject({
    messages: [{ id: message.id, state: 'acked' }],
    error: { code: 'not_found' },
  })
  expect(stderr).toContain('no message "ffffffff"')
})
