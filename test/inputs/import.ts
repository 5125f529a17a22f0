import fc from 'fast-check'
import { MailboxError } from '../../src/base/errors.ts'
import { parseStrictJson } from '../../src/base/json.ts'
import { storedFields } from '../../src/model/fields.ts'
import { openDisk } from '../../src/space/open.ts'
import { importLines, type NumberedLine } from '../../src/space/transfer.ts'
import { corpora } from '../helpers/corpora.ts'
import { message as sampleMessage, sampleTime } from '../helpers/samples.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { inputsFrom, sample } from './generate.ts'
import { Accepted, Judge } from './judge.ts'

const linesPerSpace = 4_000

/** A well-formed id that only its line has. */
const idOf = (line: number): string => `019a8000-0000-7000-8000-${line.toString(16).padStart(12, '0')}`

/** Lines of an export: right ones with any text in them, wrong ones, and what is no JSON at all. */
export async function imports(count: number, seed: number, progress: (judge: Judge) => void): Promise<Judge> {
  const judge = new Judge('import')
  const { text, json, document } = inputsFrom(await corpora(), fc.jsonValue({ maxDepth: 2 }))
  const names = storedFields.map(({ name }) => name).filter((name) => name !== 'id' && name !== 'threadId')
  const message = fc.record({
    fields: fc.record({ subject: text, body: text, payload: fc.option(json, { nil: undefined }) }),
    from: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('ada', 'bob', 'user') },
      { weight: 1, arbitrary: text },
    ),
    // One line in four has one field that may be anything.
    odd: fc.option(fc.tuple(fc.constantFrom(...names, 'extra', '__proto__'), json), { freq: 4 }),
    hasOdd: fc.nat(3).map((n) => n === 0),
  })
  const other = fc.oneof(
    fc.record(
      {
        kind: fc.constantFrom('agent', 'receipt', 'settings', 'message', 'key', 'x'),
        at: fc.constant(sampleTime),
        agent: json,
        changes: json,
        settings: json,
        format: json,
      },
      { requiredKeys: ['kind'] },
    ),
    json,
  )
  const line = fc.oneof(
    { weight: 7, arbitrary: message },
    { weight: 2, arbitrary: other.map((value) => ({ text: JSON.stringify(value) ?? 'null' })) },
    { weight: 2, arbitrary: document.map((one) => ({ text: one.replace(/[\r\n]/g, ' ') })) },
  )
  for (let done = 0; done < count; done += linesPerSpace) {
    await using space = await openDisk({ dir: tempDir(), settings: testSettings })
    await space.join('ada')
    const accepted = new Accepted(judge)
    const written = new Map<number, Record<string, unknown>>()
    const lines = sample(line, Math.min(linesPerSpace, count - done), seed + done).map(
      (one, at): NumberedLine => {
        const number = at + 1
        const told = 'text' in one ? one.text : toLine(one, number, written)
        try {
          return { line: number, value: parseStrictJson(told) }
        } catch (error) {
          if (!(error instanceof MailboxError)) judge.fail('untyped', String(error), told)
          return { line: number, error: error as MailboxError }
        }
      },
    )
    const refused = new Set<number>()
    try {
      await importLines(space.core, lines, { onRefused: ({ line }) => refused.add(line) })
    } catch (error) {
      const cause = await culprit(lines)
      judge.fail('untyped', `an import ended: ${(error as Error).stack?.slice(0, 300)}`, cause)
    }
    for (const { line: number } of lines) {
      if (refused.has(number)) judge.refuse()
      else judge.accept()
      const fields = written.get(number)
      if (fields !== undefined && !refused.has(number)) accepted.noteId(fields, idOf(number))
    }
    progress(judge)
    await accepted.compare(space)
  }
  return judge
}

interface Line {
  fields: Record<string, unknown>
  from: string
  odd: [string, unknown] | null
  hasOdd: boolean
}

function toLine(
  { fields, from, odd, hasOdd }: Line,
  number: number,
  written: Map<number, Record<string, unknown>>,
): string {
  const message: Record<string, unknown> = {
    ...sampleMessage({ id: idOf(number), to: ['ada'], from }),
    ...fields,
  }
  if (odd !== null && hasOdd) message[odd[0]] = odd[1]
  written.set(number, message)
  return JSON.stringify({ kind: 'message', at: sampleTime, message })
}

/** A line that ends an import, found by halves. */
async function culprit(lines: readonly NumberedLine[]): Promise<unknown> {
  let left = lines
  while (left.length > 1) {
    const half = left.slice(0, left.length >> 1)
    await using space = await openDisk({ dir: tempDir(), settings: testSettings })
    const isFine = await importLines(space.core, half).then(
      () => true,
      () => false,
    )
    left = isFine ? left.slice(half.length) : half
  }
  return left[0]
}
