import { hash } from 'node:crypto'
import { MailboxError } from '../base/errors.ts'
import { type Draft, type Entry, type Gist, readableFormats } from '../model/entry.ts'
import { messageLimits } from '../model/message.ts'
import { isDraft, isGist } from '../model/shape.ts'

/**
 * One entry, one line of JSON:
 *
 * `{"seq":7,"at":"…","kind":"message",…,"prev":"<sum of the line before>","sum":"<own sum>"}\n`
 *
 * `sum` is the start of the SHA-256 of every byte before `,"sum"`. It protects the line, and through `prev`
 * every line before it.
 */
const sumLength = 32
const tailLength = ',"sum":"'.length + sumLength + '"}'.length
const sumMark = Buffer.from(',"sum":"')
/** What a line has besides the text of its draft and its tail takes no more than this. */
const headLength = 256
/** The value of `prev` in the first line of a journal. */
export const noSum = '0'.repeat(sumLength)

/**
 * Lines are built in one buffer that grows as needed: the text is encoded once, and the checksum and the file
 * both use those bytes.
 */
export class LineBuffer {
  #bytes = Buffer.allocUnsafeSlow(65_536)
  /** Can be reduced to drop what was added last. */
  length = 0

  /** Appends one line and returns its sum. */
  add(draft: Draft, seq: number, at: string, prev: string): string {
    return this.addText(textOf(draft), seq, at, prev)
  }

  /** The same with the text of a draft, perhaps encoded already. `more`: what follows it, in plain characters. */
  addText(text: string | Buffer, seq: number, at: string, prev: string, more = ''): string {
    // A UTF-16 unit takes at most three bytes.
    this.#reserve(headLength + text.length * 3 + more.length + tailLength + 1)
    const bytes = this.#bytes
    const start = this.length
    let end = start + bytes.write(`{"seq":${seq},"at":"${at}",`, start, 'latin1')
    if (typeof text === 'string') end += bytes.write(text, end, 'utf8')
    else {
      bytes.set(text, end)
      end += text.length
    }
    end += bytes.write(`${more},"prev":"${prev}"`, end, 'latin1')
    const sum = lineSum(bytes.subarray(start, end))
    this.length = end + bytes.write(`,"sum":"${sum}"}\n`, end, 'latin1')
    return sum
  }

  /** Adds a lone newline, which turns the fragment before it into a line that is not an entry. */
  addSeal(): void {
    this.#reserve(1)
    this.#bytes[this.length++] = 0x0a
  }

  /** The bytes so far. They are overwritten by what is added after `length` is reduced. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length)
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(2 * (this.length + more))
    this.#bytes.copy(grown, 0, 0, this.length)
    this.#bytes = grown
  }
}

/** What a line has besides the text of its draft: its place, its sums, and a signature that comes late. */
const envelopeLength = 4_096

/** The text of a draft in a line, which its place and its sums go around. Throws if it cannot be one. */
export function textOf(draft: Draft): string {
  if (!isDraft(draft))
    throw new MailboxError('internal', 'refused to write an entry that could not be read back')
  const text = JSON.stringify(draft).slice(1, -1)
  if (text.length <= messageLimits.lineBytes - envelopeLength) return text
  const why = `an entry of ${text.length} characters is too long for the journal`
  const hint = `the limit is ${messageLimits.lineBytes} bytes; attach a file instead`
  throw new MailboxError('over_limit', why, { limit: 'size', hint })
}

const lineSum = (head: string | Buffer): string => hash('sha256', head, 'hex').slice(0, sumLength)

/** The sum in a line, unchecked; undefined if it does not look like a line. */
export function sumOf(line: Buffer): string | undefined {
  const start = line.length - tailLength
  if (start < 2 || line.compare(sumMark, 0, sumMark.length, start, start + sumMark.length) !== 0)
    return undefined
  return line.toString('latin1', start + sumMark.length, line.length - 2)
}

/** Whether it ends like a line, even if something in it is wrong. A torn write has only a beginning. */
export function looksWhole(line: Buffer): boolean {
  const end = line.toString('latin1', Math.max(0, line.length - tailLength))
  return sumOf(line) !== undefined || /[0-9a-f]{32}"\}$/.test(end)
}

/** What stands in the place of the sum at the end of a line, whatever the line is. */
export const sumText = (line: Buffer): string =>
  line.toString('latin1', Math.max(0, line.length - sumLength - 2), Math.max(0, line.length - 2))

/** What stands in the place of `prev` in a line that ends like one. */
export const prevText = (line: Buffer): string =>
  line.toString('latin1', line.length - tailLength - 1 - sumLength, line.length - tailLength - 1)

/** The sum of a line that is as it was written; undefined for any other. The sum does not cover what stands behind it. */
function rightSumOf(line: Buffer): string | undefined {
  const sum = sumOf(line)
  const isClosed = line[line.length - 2] === 0x22 && line[line.length - 1] === 0x7d
  return isClosed && sum === lineSum(line.subarray(0, line.length - tailLength)) ? sum : undefined
}

/** Whether the line is as it was written, even if this version does not know its kind. */
export const hasItsSum = (line: Buffer): boolean => rightSumOf(line) !== undefined

export interface DecodedLine {
  entry: Entry
  prev: string
  sum: string
}

/** Where the part of a message begins that no decision needs. Inside a string its quotes would be escaped. */
const messageRest = Buffer.from(',"createdAt":"')

/**
 * The gist of a line without its newline, under the same checksum. With twenty writers, each of them reads
 * what the nineteen others write, so it does not parse their bodies.
 */
export function decodeGist(line: Buffer): { entry: Gist; sum: string } | undefined {
  const cut = line.indexOf(messageRest)
  if (cut < 0) return decodeLine(line)
  const sum = rightSumOf(line)
  if (sum === undefined) return undefined
  try {
    const entry: unknown = JSON.parse(`${line.toString('utf8', 0, cut)}}}`)
    if (isGist(entry)) return { entry, sum }
  } catch {
    // The keys are in another order than ours.
  }
  return decodeLine(line)
}

/** Decodes a line without its newline. Undefined if its checksum or its shape is wrong. */
export function decodeLine(line: Buffer): DecodedLine | undefined {
  const sum = rightSumOf(line)
  if (sum === undefined) return undefined
  try {
    const read = JSON.parse(line.toString('utf8')) as Record<string, unknown>
    const { seq, at, prev } = read
    if (!Number.isSafeInteger(seq) || typeof at !== 'string' || typeof prev !== 'string' || !isDraft(read))
      return undefined
    // From the end: V8 then undoes the object's last transitions instead of making it a slow object.
    delete read['sum']
    delete read['prev']
    return { entry: read as unknown as Entry, prev, sum }
  } catch {
    return undefined
  }
}

/** A segment that a later version began must not be mistaken for a damaged one. Takes its first line. */
export function refuseOtherFormat(line: Buffer): void {
  const start = /^\{"seq":\d+,"at":"[^"]*","kind":"segment","format":(\d+),/
  const format = start.exec(line.toString('latin1'))?.[1]
  if (format === undefined || readableFormats.includes(Number(format) as 1) || !hasItsSum(line)) return
  const known = readableFormats.join(' and ')
  throw new MailboxError('invalid', `this journal has format ${format}; this version reads ${known}`, {
    hint: 'open it with a newer agent-mailbox',
  })
}
