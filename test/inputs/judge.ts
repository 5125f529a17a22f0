import { MailboxError } from '../../src/base/errors.ts'
import type { ExportLine } from '../../src/model/transfer.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { exported } from '../helpers/transfer.ts'

/** What of a message must come out as it went in. */
const kept = ['subject', 'body', 'payload', 'context', 'attachments'] as const

type Fields = Readonly<Record<string, unknown>>

/** The fields that `given` names, as `fields` has them. */
const textOf = (given: Fields, fields: Fields): string =>
  JSON.stringify(kept.filter((name) => given[name] !== undefined).map((name) => [name, fields[name]]))

/** What became of the inputs of one entry. */
export class Judge {
  readonly entry: string
  inputs = 0
  accepted = 0
  refused = 0
  untyped = 0
  changed = 0
  /** The first of what was wrong, each with its input. */
  readonly findings: string[] = []
  readonly #places = new Set<string>()

  constructor(entry: string) {
    this.entry = entry
  }

  /** An input was taken, and answered without a refusal. */
  accept(): void {
    this.inputs++
    this.accepted++
  }

  /** It was refused with a code. */
  refuse(): void {
    this.inputs++
    this.refused++
  }

  /** It made something fail that must not. */
  fail(kind: 'untyped' | 'changed', what: string, input: unknown): void {
    this[kind]++
    // One of each kind is enough to read.
    const place = `${kind} ${what.split('\n').slice(0, 3).join()}`
    if (this.#places.has(place)) return
    this.#places.add(place)
    this.findings.push(`${this.entry}: ${kind}: ${what}: ${show(input)}`)
  }

  /** It got no answer. */
  broke(what: string, input: unknown): void {
    this.refuse()
    this.fail('untyped', what, input)
  }

  /** Judges what a call threw. */
  threw(error: unknown, input: unknown): void {
    this.refuse()
    if (error instanceof MailboxError && error.code !== 'internal') return
    this.fail(
      'untyped',
      error instanceof Error ? (error.stack ?? error.message).slice(0, 600) : String(error),
      input,
    )
  }
}

/** An input as it can be read in a report. */
function show(input: unknown): string {
  try {
    return (
      JSON.stringify(input, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)) ??
      String(input)
    ).slice(0, 800)
  } catch {
    return Object.prototype.toString.call(input)
  }
}

/** What `send` warns of when a key returns an earlier message. */
const sentBefore = 'already sent with this key'

/** Remembers what was accepted, and finds out at the end whether the space has it unchanged. */
export class Accepted {
  readonly #texts = new Map<string, string>()
  readonly #judge: Judge
  /** The ids of messages, for inputs that name one. */
  readonly ids: string[] = []

  constructor(judge: Judge) {
    this.#judge = judge
  }

  /** A message was sent with these fields; `stored` is what came back. A key returns an earlier message. */
  note(input: Fields, stored: Fields): void {
    const id = String(stored['id'])
    if (this.#texts.has(id) || (stored['warnings'] as string[] | undefined)?.includes(sentBefore)) return
    const text = textOf(input, input)
    this.#texts.set(id, text)
    if (this.ids.length < 1_000) this.ids.push(id)
    else this.ids[this.#texts.size % 1_000] = id
    if (textOf(input, stored) !== text) this.#judge.fail('changed', 'the answer is not what was sent', input)
  }

  /** The same where only an id came back. */
  noteId(input: Fields, id: string): void {
    this.note(input, { ...input, id })
  }

  /** Compares everything that was accepted with what the journal has, and has the space checked. */
  async compare(space: DiskSpace): Promise<void> {
    const lines = await exported(space)
    const stored = new Map(
      lines.flatMap((line: ExportLine) =>
        line.kind === 'message' || line.kind === 'scheduled' ? [[line.message.id, line.message]] : [],
      ),
    )
    // What was to be sent later and was taken back is nowhere.
    for await (const { entry } of space.core.followStored({ after: 0, live: false }))
      if (entry.kind === 'unscheduled') this.#texts.delete(entry.id)
    for (const [id, text] of this.#texts) {
      const message = stored.get(id) as Fields | undefined
      // A line has no text of what is encrypted; whoever sent it was told what it is.
      if (message?.['sealed'] !== undefined) continue
      if (message === undefined) this.#judge.fail('changed', 'an accepted message is not there', text)
      else if (textOf(namesIn(text), message) !== text)
        this.#judge.fail('changed', 'the journal has something else', text)
    }
    const { problems } = await space.verify({ deep: true })
    if (problems.length > 0) this.#judge.fail('changed', 'verify found', problems.slice(0, 3))
  }
}

const namesIn = (text: string): Fields => Object.fromEntries(JSON.parse(text) as [string, unknown][])
