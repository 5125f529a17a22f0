import * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import { given, isObject } from '../base/objects.ts'
import { typeNamed } from '../conversation/type-names.ts'
import { boxOf, parseAddress, writeAddress } from '../model/address.ts'
import { type Agent, person, systemAgent } from '../model/agent.ts'
import { checkFields, checkStored } from '../model/check-fields.ts'
import {
  type AgentDraft,
  agentDraft,
  type MessageDraft,
  type ReceiptDraft,
  type ScheduledDraft,
  type ShareDraft,
} from '../model/entry.ts'
import { type Message, toPriority } from '../model/message.ts'
import { checkName } from '../model/name.ts'
import { agentSchema, receiptChangeSchema, receiptDraft, shareDraft } from '../model/schemas.ts'
import { parseSealed } from '../model/sealed.ts'
import { isSettingKey, type Settings, settings } from '../model/settings.ts'
import { isTime } from '../model/shape.ts'
import { parseSignature } from '../model/signature.ts'
import { isoTime } from '../model/time.ts'
import { type ExportedChange, exportFormat } from '../model/transfer.ts'
import { checkSize, invalid } from './check-send.ts'
import { maxNoteLength } from './handle.ts'
import { checkAgent, checkUnlikeReserved } from './roster.ts'

export type ReceiptLine = Omit<ReceiptDraft, 'changes'> & { changes: ExportedChange[] }

/** A line of an export, checked. */
export type ImportLine =
  | MessageDraft
  | ScheduledDraft
  | AgentDraft
  | ReceiptLine
  | ShareDraft
  | { kind: 'settings'; settings: Partial<Settings> }
  | { kind: 'export' }

export interface ImportChecks {
  /** limits.messageBytes of the space. */
  maxBytes: number
  /** Who imports. Only the person may import mail of the person and of the system. */
  by: string
}

/**
 * Checks a line of an export; the file may come from anyone, so nothing is accepted that `send` would refuse. Lines
 * of earlier versions are messages without a kind, alone or with what became of them, which they do not say in full.
 */
export function checkImport(value: unknown, checks: ImportChecks): ImportLine {
  if (!isObject(value)) invalid('not a JSON object', hint)
  const { kind, at, ...rest } = value
  switch (kind) {
    case undefined:
      return 'message' in value
        ? messageLine(value['message'], value['exclude'], undefined, checks)
        : messageLine(value, undefined, undefined, checks)
    case 'message':
    case 'scheduled':
      allowOnly(rest, ['message', 'exclude', 'signature'])
      return {
        ...messageLine(rest['message'], rest['exclude'], timeOf(at), checks),
        kind,
        ...given({ signature: signatureIn(rest['signature']) }),
      }
    case 'receipt':
      return receiptLine(rest, timeOf(at), checks)
    case 'share':
      return shareLine(rest, timeOf(at), checks)
    case 'agent':
      allowOnly(rest, ['agent'])
      return agentLine(rest['agent'], timeOf(at))
    case 'settings':
      return { kind, settings: settingsIn(rest['settings']) }
    case 'export':
      return headLine(kind, rest['format'])
    default:
      return invalid(`unknown kind ${JSON.stringify(kind).slice(0, 60)}`, hint)
  }
}

const hint = 'import expects the output of export: one JSON object per line'

function allowOnly(fields: object, names: readonly string[]): void {
  const other = Object.keys(fields).find((name) => !names.includes(name))
  if (other !== undefined) invalid(`unknown field ${JSON.stringify(other).slice(0, 60)}`, hint)
}

function timeOf(at: unknown): string {
  if (isTime(at) && isoTime(Date.parse(at as string)) === at) return at as string
  return invalid('at must be a time such as 2026-11-15T09:30:00.000Z', hint)
}

/** It is kept, so that it can be proved in the space that it comes from. Here it proves nothing. */
function signatureIn(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && parseSignature(value)?.space !== undefined) return value
  return invalid('signature must be as export wrote it', hint)
}

/** A newer version may mean something else by the same words. */
function headLine(kind: 'export', format: unknown): ImportLine {
  if (format === exportFormat) return { kind }
  throw new MailboxError(
    'conflict',
    `the export has format ${JSON.stringify(format)}; this version reads ${exportFormat}`,
    { hint: 'update agent-mailbox, or export it with this version' },
  )
}

/** Other systems have other words for types and priorities. */
const inOurWords = (message: Record<string, unknown>): Record<string, unknown> => ({
  ...message,
  ...given({
    type: typeof message['type'] === 'string' ? typeNamed(message['type']) : undefined,
    priority: toPriority(message['priority']),
  }),
})

function messageLine(
  value: unknown,
  exclude: unknown,
  at: string | undefined,
  { maxBytes, by }: ImportChecks,
): MessageDraft {
  if (!isObject(value)) invalid('not a message', hint)
  const { seq: _, signature: __, encrypted: ___, ...written } = value
  const fields = inOurWords(written)
  checkStored(fields)
  checkFields(given({ exclude }))
  const message = fields as Message
  checkActor(message.from, 'from', by)
  if (message.to.length === 0) invalid('the message has no recipient', hint)
  for (const address of message.to)
    if (writeAddress(parseAddress(address)) !== address || address === systemAgent)
      invalid(`to contains ${JSON.stringify(address)}, which is no address of stored mail`, hint)
  const { sealed } = message
  const isMore = message.subject !== '' || message.body !== '' || message.attachments.length > 0
  // A text of JSON can be several times as long as it is, and base64 adds a third.
  checkSealed(sealed, isMore || message.context !== undefined || (sealed ?? '').length > 8 * maxBytes)
  checkSize(message, maxBytes)
  const excluded = exclude as string[] | undefined
  return {
    kind: 'message',
    originalAt: at ?? message.createdAt,
    message,
    ...(excluded && { exclude: excluded }),
  }
}

/** Somebody who did something: a name that can be one. Nobody but the person speaks for the person or the system. */
function checkActor(name: string, field: string, by: string): void {
  checkName(name, field)
  checkUnlikeReserved(name)
  if (by !== person && (name === person || name === systemAgent) && name !== by)
    throw new MailboxError('not_permitted', `${by} cannot import what ${name} did`, {
      hint: 'the person can: mailbox import, without --as',
    })
}

const exportedChange = z.omit(receiptChangeSchema, { seq: true, rank: true, was: true, wasBox: true })
const exportedReceipt = z.extend(z.omit(receiptDraft, { kind: true, originalAt: true }), {
  changes: z.array(exportedChange).check(z.minLength(1)),
})

function receiptLine(fields: object, originalAt: string, { by: importer }: ImportChecks): ImportLine {
  const { step, by, changes, note, sealed } = parsed(exportedReceipt, fields)
  checkActor(by, 'by', importer)
  if (note !== undefined && note.length > maxNoteLength)
    invalid(`the note has ${note.length} characters; the limit is ${maxNoteLength}`, hint)
  checkSealed(sealed, sealed !== undefined && (note !== undefined || sealed.length > 8 * maxNoteLength))
  for (const change of changes) checkChange(change)
  return { kind: 'receipt', originalAt, step, by, changes, ...given({ note, sealed }) }
}

/** What is encrypted cannot be looked into. It must be as export wrote it, and have no text beside it. */
function checkSealed(sealed: string | undefined, isMore: boolean): void {
  if (sealed === undefined) return
  if (parseSealed(sealed)?.space === undefined || isMore)
    invalid('sealed must be as export wrote it, with no text beside it', hint)
}

const exportedShare = z.extend(z.omit(shareDraft, { kind: true, originalAt: true, change: true }), {
  space: z.string().check(z.minLength(1), z.maxLength(120)),
})

/** A key of another space, for those who can open it. Here nothing is ever encrypted with it. */
function shareLine(fields: object, originalAt: string, { by: importer }: ImportChecks): ShareDraft {
  const { by, key, for: each, space, signature } = parsed(exportedShare, fields)
  checkActor(by, 'by', importer)
  for (const name of Object.keys(each)) checkName(name, 'for')
  if (parseSignature(signature)?.space === undefined) invalid('signature must be as export wrote it', hint)
  return { kind: 'share', originalAt, change: 'shared', by, key, for: each, space, signature }
}

function checkChange({ owner, box, claim, claimUntil, ackBy, expiresAt, ...numbers }: ExportedChange): void {
  if (boxOf(writeAddress(parseAddress(owner))) !== owner)
    invalid(`owner ${JSON.stringify(owner)} is no box`, hint)
  // Only mail to a role is in the box of another: of whoever claimed it.
  if (box !== owner) {
    checkName(box, 'box')
    if (!owner.startsWith('role:')) invalid(`mail of ${owner} cannot be in the box of ${box}`, hint)
  }
  for (const time of [claimUntil, ackBy, expiresAt]) if (time !== undefined) timeOf(time)
  const { attempts = 0, repeats = 0, level = 0 } = numbers
  if ([attempts, repeats, level, claim ?? 1].some((n) => n < 0) || claim === 0)
    invalid('a change of a receipt contains a negative number', hint)
}

function agentLine(value: unknown, at: string): AgentDraft {
  const agent: Agent = parsed(agentSchema, value)
  checkAgent(agent)
  timeOf(agent.lastSeenAt)
  timeOf(agent.session.startedAt)
  return { ...agentDraft('updated', agent.name, agent), originalAt: at }
}

function settingsIn(value: unknown): Partial<Settings> {
  if (!isObject(value)) invalid('settings must be an object', hint)
  for (const [key, one] of Object.entries(value)) {
    if (!isSettingKey(key) || !settings[key].exported)
      invalid(`${JSON.stringify(key).slice(0, 60)} is no setting that can be imported`, hint)
    if (!settings[key].check(one))
      invalid(`invalid value for ${key}: ${JSON.stringify(one).slice(0, 60)}`, settings[key].about)
  }
  return value as Partial<Settings>
}

/** The value itself: its fields stay in their order. */
function parsed<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const { success, error } = schema.safeParse(value)
  if (success) return value as T
  const [issue] = error.issues
  const keys = issue?.code === 'unrecognized_keys' ? issue.keys : []
  const path = [...(issue?.path ?? []), ...keys].join('.') || 'the line'
  return invalid(`${path.slice(0, 80)} is ${keys.length > 0 ? 'unknown' : 'missing or not valid'}`, hint)
}
