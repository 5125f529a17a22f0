import { isObject } from '../base/objects.ts'
import { type DataKey, openText, sealText } from '../base/sealing.ts'
import type { Entry, ReceiptDraft } from './entry.ts'
import type { Message } from './message.ts'

/**
 * An encrypted message has its text in one field, `sealed`: `KEY.TEXT`. KEY is the id of a key of the space, or, for
 * mail that its recipients alone can read, a key of its own as an age file; `.SPACE` follows if it was imported from
 * there. What mail is delivered and settled by stays readable. A note of a receipt is sealed in the same way.
 */
interface Sealed {
  /** The id of a key of a space, or an age file. */
  key: string
  text: string
  /** The space that it was sealed in, if that is another one. */
  space?: string | undefined
}

const pattern = /^([\w-]{16,})\.([\w-]+)(?:\.(.{1,120}))?$/
const spaceKey = /^[0-9a-f]{16}$/

export function parseSealed(sealed: string): Sealed | undefined {
  const [, key, text, space] = pattern.exec(sealed) ?? []
  return key === undefined || text === undefined ? undefined : { key, text, space }
}

/** Whether everybody in the space can read it, or only its recipients. */
export const audienceOf = ({ key }: Sealed): Audience => (spaceKey.test(key) ? 'space' : 'recipients')

export type Audience = 'space' | 'recipients'

/** The same as a number: 0 if it is not encrypted, 1 for the space, 2 for its recipients. */
export const audienceRank = ({ sealed }: Pick<Message, 'sealed'>): number =>
  sealed === undefined ? 0 : audienceIn(sealed) === 'space' ? 1 : 2

/** The same without a look at the rest. An age file is far longer than the id of a key. */
export const audienceIn = (sealed: string): Audience =>
  sealed.indexOf('.') === idLength ? 'space' : 'recipients'
const idLength = 16

/** What readers learn of a message besides what it says. */
export interface Encrypted {
  /** Who can read it: whoever has a key to the space, or its sender and its recipients only. Absent: it is not encrypted. */
  encrypted?: Audience
  /** There is no key for it here, and its text is not what its sender wrote. */
  locked?: true
}

/**
 * Whether a message stays among those who have a key: who encrypts one for its recipients has not asked to have it sent
 * elsewhere in plain text.
 */
export const staysInside = ({ encrypted, locked }: Encrypted): boolean =>
  locked === true || encrypted === 'recipients'

/** Why it was not sent, to its sender. */
export const staysInsideReason =
  'it is encrypted, and an agent of another system has no key: send it without --encrypt'

/** What `sealed` holds of a message. */
type Text = Pick<Message, 'subject' | 'body' | 'attachments' | 'payload' | 'context'>

/** A key with the name under which messages refer to it. */
export interface Seal {
  ref: string
  key: DataKey
}

const aboutMessage = ({ id, from }: Message, space: string): string =>
  `["agent-mailbox text",${inJson(space)},${inJson(id)},${inJson(from)}]`

/** A text that is none but in rare cases longer in JSON: to look whether it is takes a tenth of the time. */
const inJson = (text: string): string => (/^[\w-]*$/.test(text) ? `"${text}"` : JSON.stringify(text))

/**
 * `outline`: what of its payload stays readable. This runs for every message of an encrypted space: a copy whose fields
 * are replaced takes a fraction of one that is put together without them.
 */
export function sealMessage(
  message: Message,
  { ref, key }: Seal,
  space: string,
  outline: Message['payload'],
): Message {
  const { subject, body, attachments, payload, context } = message
  const text: Text = { subject, body, attachments }
  if (payload !== undefined) text.payload = payload
  if (context !== undefined) text.context = context
  const sealed = { ...message, attachments: [], subject: '', body: '' }
  if (payload !== undefined) delete sealed.payload
  if (context !== undefined) delete sealed.context
  if (outline !== undefined) sealed.payload = outline
  sealed.sealed = `${ref}.${sealText(key, JSON.stringify(text), aboutMessage(message, space))}`
  return sealed
}

/** The message as it was before it was sealed. Undefined if it was sealed with another key, or as another message. */
export function openMessage(message: Message, key: DataKey, space: string): Message | undefined {
  const found = parseSealed(message.sealed ?? '')
  const text = found && openText(key, found.text, aboutMessage(message, found.space ?? space))
  if (text === undefined) return undefined
  const said: unknown = JSON.parse(text)
  if (!isText(said)) return undefined
  const { sealed: _, payload: __, subject: ___, body: ____, attachments: _____, ...rest } = message
  const { subject, body, attachments, payload, context } = said
  return {
    ...rest,
    ...{ attachments, subject, body },
    ...(payload === undefined ? {} : { payload }),
    ...(context === undefined ? {} : { context }),
  }
}

const isText = (value: unknown): value is Text =>
  isObject(value) &&
  typeof value['subject'] === 'string' &&
  typeof value['body'] === 'string' &&
  Array.isArray(value['attachments'])

/** What stands in the place of a message for whoever has no key. */
export function lockedMessage(message: Message): Message {
  const { sealed, ...rest } = message
  const found = parseSealed(sealed ?? '')
  return { ...rest, subject: lockedSubject, body: lockedText(found && audienceOf(found), message.to) }
}

const lockedSubject = '(encrypted)'

/** In a sentence, why a text cannot be read. */
const lockedText = (audience: Audience | undefined, to: readonly string[]): string =>
  `Encrypted for ${audience === 'recipients' ? to.join(', ') : 'the members of this space'}; you have no key for it.`

/** An entry that was opened, for an agent that may not read it: what is for others alone is closed again. */
export function hiddenFrom(entry: Entry, name: string): Entry {
  if ((entry.kind === 'message' || entry.kind === 'scheduled') && entry.message.encrypted === 'recipients') {
    const { from, to, payload: _, context: __, ...rest } = entry.message
    if (from === name || to.includes(name)) return entry
    const closed = { subject: lockedSubject, body: lockedText('recipients', to), attachments: [] }
    return { ...entry, message: { ...rest, from, to, ...closed, locked: true } }
  }
  if (entry.kind !== 'receipt' || entry.sealed === undefined || entry.by === name) return entry
  const found = parseSealed(entry.sealed)
  const isFor = found !== undefined && audienceOf(found) === 'space'
  const isOwn = entry.changes.some(({ owner, box }) => owner === name || box === name)
  return isFor || isOwn ? entry : { ...entry, note: lockedNote }
}

export const lockedNote = '(encrypted; you have no key for it)'

type Noted = Pick<ReceiptDraft, 'step' | 'by'> & { changes: readonly { id: string }[] }

const aboutNote = ({ step, by, changes }: Noted, space: string): string =>
  JSON.stringify(['agent-mailbox note', space, by, step, ...new Set(changes.map(({ id }) => id))])

export function sealNote<D extends ReceiptDraft>(draft: D, { ref, key }: Seal, space: string): D {
  const { note, ...rest } = draft
  if (note === undefined) return draft
  return { ...rest, sealed: `${ref}.${sealText(key, note, aboutNote(draft, space))}` } as D
}

/** The note of a receipt; undefined if it cannot be read with this key. */
export function openNote(draft: ReceiptDraft, key: DataKey, space: string): string | undefined {
  const found = parseSealed(draft.sealed ?? '')
  return found && openText(key, found.text, aboutNote(draft, found.space ?? space))
}

/** What is sealed as an export has it: it can be opened as what it was in the space that it comes from. */
export const exportedSeal = (sealed: string, space: string): string =>
  parseSealed(sealed)?.space === undefined ? `${sealed}.${space}` : sealed
