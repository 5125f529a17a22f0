import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Mailbox, openSpace, type SendInput } from '../../src/mod.ts'
import { inputFields, type NamedField, optionName, storedFields } from '../../src/model/fields.ts'
import { createBox } from '../helpers/cli.ts'
import { stageHub } from '../helpers/hub.ts'
import { connect } from '../helpers/mcp.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { sampleOf } from './sample-of.ts'

/** Of a life and its end a message has one or the other. */
const sampled = (fields: readonly NamedField[]): Record<string, unknown> =>
  Object.fromEntries(
    fields.filter(({ name }) => name !== 'ttlMs').map((field) => [field.name, sampleOf(field)]),
  )

/** What a sender says when it says everything. The message that it replies to has to exist. */
const everything = (replyTo: string, fields: readonly NamedField[] = inputFields): SendInput =>
  ({
    ...sampled(fields),
    to: 'ada',
    ...(fields.some(({ name }) => name === 'replyTo') && { replyTo }),
  }) as SendInput

/** As much of that as a message has to hold. */
const held = (input: SendInput): object =>
  Object.fromEntries(
    storedFields
      .filter(({ name }) => name in input)
      .map(({ name }) => [name, name === 'to' ? ['ada'] : input[name as keyof SendInput]]),
  )

async function sendEverything(mailbox: Mailbox): Promise<SendInput> {
  const first = await mailbox.send({ to: 'ada' })
  const input = everything(first.id)
  expect(await mailbox.send(input)).toMatchObject(held(input))
  return input
}

describe('every field of a message', () => {
  test('passes the library, and is in the inbox', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    const input = await sendEverything(await space.mailbox('bob'))
    expect((await ada.inbox()).messages).toContainEqual(expect.objectContaining(held(input)))
  })

  test('passes the remote client', async () => {
    const stage = await stageHub()
    const ada = await stage.space.mailbox('ada')
    const space = await openSpace({ url: stage.url, token: stage.agentToken('bob') })
    onTestFinished(() => space.close())
    const input = await sendEverything(await space.mailbox('bob'))
    expect((await ada.inbox()).messages).toContainEqual(expect.objectContaining(held(input)))
  })

  test('passes HTTP, and is in the OpenAPI document', async () => {
    const stage = await stageHub()
    await stage.space.mailbox('ada')
    const first = await (await stage.space.mailbox('bob')).send({ to: 'ada' })
    const input = everything(first.id)
    const path = '/api/mailboxes/bob/send'
    const { json, status } = await stage.ask(path, { token: stage.agentToken('bob'), body: input })
    expect(status, JSON.stringify(json)).toBe(200)
    expect(json).toMatchObject(held(input))
    const { schemas } = (await stage.ask('/api/openapi.json')).json.components
    const names = (fields: readonly NamedField[]) => fields.map(({ name }) => name).sort()
    expect(Object.keys(schemas.SendInput.properties).sort()).toEqual(names(inputFields))
    expect(Object.keys(schemas.Message.properties).sort()).toEqual(
      [...names(storedFields), 'encrypted', 'imported', 'locked', 'seq', 'signature', 'unreadable'].sort(),
    )
  })

  test('has an option of `mailbox send`, or says that it has none', async () => {
    const box = await createBox('ada', 'bob')
    const first = (await box.json('--as', 'bob', 'send', 'ada', '--body', 'first')).message
    const offered = inputFields.filter(({ cli }) => cli !== undefined)
    const without = inputFields.filter(({ cli }) => cli === undefined).map(({ name }) => name)
    expect(without).toEqual(['to', 'traceparent'])
    const input = everything(first.id, offered)
    const words = offered.flatMap((field) => {
      const option = field.cli![0].split(' ')[0]!
      const value = input[field.name as keyof SendInput]
      if (typeof value === 'boolean') return [option]
      if (value === undefined) return []
      if (Array.isArray(value)) return value.flatMap((item) => [option, item])
      return [option, typeof value === 'object' ? JSON.stringify(value) : String(value)]
    })
    const sent = await box.json('--as', 'bob', 'send', 'ada', ...words)
    expect(sent.message).toMatchObject(held(input))
    const { message: shown } = await box.json('show', sent.message.id)
    expect(shown).toMatchObject(held(input))
  })

  test('passes `--input`, and nothing else does', async () => {
    const box = await createBox('ada', 'bob')
    const first = (await box.json('--as', 'bob', 'send', 'ada', '--body', 'first')).message
    const input = everything(first.id)
    const file = join(box.dir, 'input.json')
    writeFileSync(file, JSON.stringify(input))
    expect((await box.json('--as', 'bob', 'send', '--input', file)).message).toMatchObject(held(input))
    writeFileSync(file, JSON.stringify({ ...input, colour: 'red' }))
    expect(await box.refused(2, '--as', 'bob', 'send', '--input', file)).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('"colour"'),
      hint: expect.stringContaining(inputFields.map(({ name }) => name).join(', ')),
    })
  })

  test('is in the MCP tool if its row says so, and passes it', async () => {
    const dir = tempDir()
    const ada = await (await tempSpace({ dir })).mailbox('ada')
    const { client, call } = await connect(dir, 'bob')
    onTestFinished(() => client.close())
    const send = (await client.listTools()).tools.find(({ name }) => name === 'send')!
    const offered = inputFields.filter(({ mcp }) => mcp !== undefined)
    expect(Object.keys(send.inputSchema.properties!).sort()).toEqual(
      [...offered.map(optionName), 'handoff'].sort(),
    )
    const first = await call('send', { to: 'ada', body: 'first' })
    // The agent has keys of its own there: test/space/encryption.test.ts.
    const input = { ...everything(first.facts['id'] as string, offered), encrypt: false }
    const given = offered.map((field) => [optionName(field), input[field.name as keyof SendInput]])
    await call('send', Object.fromEntries(given))
    expect((await ada.inbox()).messages).toContainEqual(expect.objectContaining(held(input)))
  })

  test('survives an export and an import', async () => {
    const from = await createBox('ada', 'bob')
    const to = await createBox('ada', 'bob')
    const first = (await from.json('--as', 'bob', 'send', 'ada', '--body', 'first')).message
    // What is encrypted can be read with the keys of the space that it comes from: test/space/encryption.test.ts.
    const input = { ...everything(first.id), encrypt: false }
    const file = join(from.dir, 'input.json')
    writeFileSync(file, JSON.stringify(input))
    const { id } = (await from.json('--as', 'bob', 'send', '--input', file)).message
    const exported = join(from.dir, 'mail.jsonl')
    await from.ok('export', '--out', exported)
    await to.ok('import', exported)
    expect((await to.json('show', id)).message).toMatchObject(held(input))
  })
})
