import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Mailbox, toPrintable } from '../../src/mod.ts'
import { reopen, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

/** A few characters of every plane of Unicode, and each of the awkward ones. */
const everyPlane = Array.from({ length: 17 }, (_, plane) =>
  [0x41, 0x3042, 0xfffd, 0xfffe, 0xffff].map((code) => String.fromCodePoint(plane * 0x10000 + code)).join(''),
).join('')
const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join('')

const bodies: Record<string, string> = {
  'of nothing': '',
  'of 1 MiB': 'x'.repeat(1_048_576),
  'of 1 MiB in four-byte characters': '🙂'.repeat(262_144),
  'of 1 MiB of NUL': '\0'.repeat(1_048_576),
  'of every plane of Unicode': everyPlane,
  'of every control character': controls,
  'with NUL in it': 'before\0after',
  'with lone surrogates': 'high \ud800 low \udc00 reversed \udc00\ud800 end \ud83d',
  'with ANSI escapes': '\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u009b2J \u001b[201~\r',
  'with bidi overrides': 'abc\u202edef\u2066ghi\u2069',
  'with line ends of all kinds': 'a\nb\r\nc\rd\u2028e\u2029f\u0085g\u000bh\u000ci',
  'that is a line of the journal': '{"seq":1,"at":"x","kind":"message"}\n{"seq":2}\n',
  'in decomposed form': 'e\u0301 n\u0303 \u1112\u1161\u11ab',
  'with a byte order mark': '\ufeffbom\ufeff',
}

async function comesBack(mailbox: Mailbox, id: string, body: string): Promise<void> {
  const places = [
    (await mailbox.inbox({ limit: 1 })).messages[0],
    (await mailbox.show(id)).message,
    (await mailbox.thread(id))[0],
    (await mailbox.check({ budgetTokens: 1 })).messages[0],
    await mailbox.read(id),
  ]
  for (const found of places) expect(found!.body === body).toBe(true)
}

describe('what goes in comes out', () => {
  test.each(Object.entries(bodies))('a body %s', async (_, body) => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const sent = await bob.send({ to: 'ada', body })
    expect(sent.body === body).toBe(true)
    await comesBack(ada, sent.id, body)
    expect((await (await reopen(space)).show(sent.id)).message.body === body).toBe(true)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  test.each(Object.entries(bodies))('and a body %s is harmless on a terminal', (_, body) => {
    const printable = toPrintable(body)
    expect(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(printable)).toBe(false)
    expect(printable.isWellFormed()).toBe(true)
  })

  test('any subject, body, payload and context', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('\0', '\ud800', '\udc00', '"', '\\', '\n', 'a') }),
    )
    const value = fc.jsonValue({ maxDepth: 4 }).filter((one) => !JSON.stringify(one).includes('__proto__'))
    const safe = value.map((one) =>
      JSON.parse(JSON.stringify(one), (_, item) =>
        Number.isInteger(item) && !Number.isSafeInteger(item) ? 0 : item,
      ),
    )
    await fc.assert(
      fc.asyncProperty(
        text,
        text,
        safe,
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__'),
          safe,
        ),
        async (subject, body, payload, context) => {
          const said = { subject: subject.slice(0, 500), body, payload, context: { ...context } }
          const sent = await bob.send({ to: 'ada', ...said })
          expect((await ada.show(sent.id)).message).toMatchObject(said)
        },
      ),
      { numRuns: 200 },
    )
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  test('a payload as deep as is accepted', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    let accepted = 0
    for (let depth = 1, payload: unknown = 'core'; depth <= 70; depth++) {
      payload = [payload]
      const sent = await bob.send({ to: 'ada', payload }).catch((error: { code: string }) => {
        expect(error.code).toBe('invalid')
      })
      if (sent === undefined) break
      accepted = depth
      expect((await ada.show(sent.id)).message.payload).toEqual(payload)
    }
    expect(accepted).toBeGreaterThan(50)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  test('the names of attachments, whatever they are', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    // As a hub sends for another machine, whose files it cannot see.
    const bob = await space.mailboxOfRun('bob', { join: false })
    const attachments = [
      '../../etc/passwd',
      '/abs/olute',
      'C:\\x',
      'new\nline',
      '🙂.txt',
      ' ',
      'a'.repeat(4_096),
    ]
    const { id } = await bob.send({ to: 'ada', attachments })
    expect((await ada.show(id)).message.attachments).toEqual(attachments)
  })
})
