import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempSpace } from '../helpers/temp.ts'

it('writes no word of a message to the files of an encrypted space, and reads it back', async () => {
  const space = await tempSpace({ settings: { encrypt: 'space' } })
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob')
  const sent = await ada.send({ to: 'bob', subject: 'Zebra', body: 'quagga', payload: { okapi: 1 } })
  expect(sent).toMatchObject({ subject: 'Zebra', encrypted: 'space' })
  const { messages } = await bob.check()
  expect(messages).toMatchObject([
    { subject: 'Zebra', body: 'quagga', payload: { okapi: 1 }, encrypted: 'space', signature: 'signed' },
  ])
  const text = readFileSync(join(space.dir, 'journal', '00000001.jsonl'), 'utf8')
  for (const word of ['Zebra', 'quagga', 'okapi']) expect(text).not.toContain(word)
})
it('one', async () => {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob')
  await space.mailbox('eve')
  const sent = await ada.send({
    to: 'bob',
    subject: 'Zebra',
    body: 'quagga',
    payload: { okapi: 1 },
    encrypt: true,
    awaitingResponse: true,
  })
  expect((await bob.check()).messages).toMatchObject([
    { subject: 'Zebra', body: 'quagga', encrypted: 'recipients' },
  ])
  await bob.done(sent.id, { note: 'gnu' })
  expect((await ada.check()).messages).toMatchObject([
    { subject: 'Re: Zebra', body: 'gnu', encrypted: 'recipients' },
  ])
  const text = readFileSync(join(space.dir, 'journal', '00000001.jsonl'), 'utf8')
  for (const word of ['Zebra', 'quagga', 'okapi', 'gnu']) expect(text).not.toContain(word)
})
