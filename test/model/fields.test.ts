import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fence } from '../../src/conversation/fence.ts'
import { toMarkdown } from '../../src/conversation/render.ts'
import { type Mailbox, openSpace, type SendInput } from '../../src/mod.ts'
import { checkFields } from '../../src/model/check-fields.ts'
import { inputFields, type NamedField, optionName, storedFields } from '../../src/model/fields.ts'
import type { Message } from '../../src/model/message.ts'
import { isDraft } from '../../src/model/shape.ts'
import { createBox } from '../helpers/cli.ts'
import { stageHub } from '../helpers/hub.ts'
import { connect } from '../helpers/mcp.ts'
import { message } from '../helpers/samples.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

/** A value that every way in accepts. A new kind of field has to say what one looks like. */
function sampleOf({ name, kind, items }: NamedField): unknown {
  switch (kind) {
    case 'id':
    case 'word':
      return `w-${name}`
    case 'name':
      return 'dev'
    case 'text':
      return `the ${name}`
    case 'flag':
      return true
    case 'priority':
      return 'high'
    case 'time':
      return '2999-11-15T09:30:00.000Z'
    case 'whole':
      return 1
    case 'duration':
      return 60_000
    case 'json':
      return { n: 1 }
    case 'object':
      return { a: 'b' }
    case 'list':
      return items === 'tag' ? ['project:x', 'area:y'] : items === 'name' ? ['bob'] : ['a.txt', 'b.txt']
    case 'addresses':
      return 'ada'
    case 'reference':
      return true
  }
}

const sampled = (fields: readonly NamedField[]): Record<string, unknown> =>
  Object.fromEntries(fields.map((field) => [field.name, sampleOf(field)]))

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
      [...names(storedFields), 'seq', 'unreadable'].sort(),
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
      if (field.kind === 'duration') return [option, '60s']
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
    const input = everything(first.facts['id'] as string, offered)
    const given = offered.map((field) => [optionName(field), input[field.name as keyof SendInput]])
    await call('send', Object.fromEntries(given))
    expect((await ada.inbox()).messages).toContainEqual(expect.objectContaining(held(input)))
  })

  test('survives an export and an import', async () => {
    const from = await createBox('ada', 'bob')
    const to = await createBox('ada', 'bob')
    const first = (await from.json('--as', 'bob', 'send', 'ada', '--body', 'first')).message
    const input = everything(first.id)
    const file = join(from.dir, 'input.json')
    writeFileSync(file, JSON.stringify(input))
    const { id } = (await from.json('--as', 'bob', 'send', '--input', file)).message
    const exported = join(from.dir, 'mail.jsonl')
    await from.ok('export', '--out', exported)
    await to.ok('import', exported)
    expect((await to.json('show', id)).message).toMatchObject(held(input))
  })
})

test.each(
  storedFields.filter(({ label }) => label !== undefined).map((field) => [field.label!, field] as const),
)('readers see %s', (label, field) => {
  const value = sampleOf(field)
  const shown = message({ [field.name]: value } as Partial<Message>)
  const last = JSON.stringify(value).match(/\w+(?=\W*$)/)![0]
  const empty = message({ attachments: [] })
  for (const text of [toMarkdown(shown), fence(shown)]) {
    expect(text.toLowerCase()).toContain(label.toLowerCase())
    expect(text).toContain(last)
  }
  for (const text of [toMarkdown(empty), fence(empty)]) expect(text).not.toContain(`${label}:`)
})

describe.each(inputFields.map((field) => [field.name, field] as const))('%s', (name, field) => {
  test('accepts its sample and refuses another kind', () => {
    checkFields({ [name]: sampleOf(field) })
    const wrong = field.kind === 'json' ? () => 1 : Symbol.for('wrong')
    expect(() => checkFields({ [name]: wrong })).toThrow(expect.objectContaining({ code: 'invalid' }))
  })
})

test.each(storedFields.map((field) => [field.name, field] as const))(
  'the quick check of a line looks at %s',
  (name, field) => {
    const whole = { ...message(), [name]: sampleOf(field) } as Record<string, unknown>
    if (field.kind === 'addresses') whole[name] = ['ada']
    const isMessage = (value: object) => isDraft({ kind: 'message', message: value })
    expect(isMessage(whole)).toBe(true)
    const { [name]: _, ...rest } = whole
    expect(isMessage(rest)).toBe(field.stored === 'optional')
    if (field.kind !== 'json') expect(isMessage({ ...whole, [name]: Symbol.for('wrong') })).toBe(false)
  },
)
