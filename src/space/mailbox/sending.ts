import { MailboxError } from '../../base/errors.ts'
import { given } from '../../base/objects.ts'
import { processState } from '../../base/process.ts'
import { inSpan } from '../../base/trace.ts'
import { checkSend, recipientsOf } from '../../command/check-send.ts'
import type { Context } from '../../command/context.ts'
import { decideResend } from '../../command/resend.ts'
import { decideUnschedule } from '../../command/schedule.ts'
import { decideSend, looksAtMessages, type SendCommand, type Sent } from '../../command/send.ts'
import { decideWithdraw } from '../../command/withdraw.ts'
import { checkPayload } from '../../conversation/payload.ts'
import { typeNamed, warnOfType } from '../../conversation/type-names.ts'
import type { View } from '../../conversation/view.ts'
import type { Decided } from '../../journal/journal.ts'
import { isLost, openError } from '../../journal/unreachable.ts'
import { systemAgent } from '../../model/agent.ts'
import type { SendInput } from '../../model/fields.ts'
import { checkId } from '../../model/id.ts'
import type { Origin } from '../../model/origin.ts'
import { audienceIn } from '../../model/sealed.ts'
import type { StoredMessage } from '../../query/message.ts'
import { asMessage, findScheduled } from '../../query/scheduled.ts'
import type { SpaceCore } from '../core.ts'
import { runDue } from '../due.ts'
import { syncEnd } from '../sync-end.ts'
import type { Addresses, ReplyInput, SentMessage } from './api.ts'
import { checkAttachments } from './attachments.ts'
import { bePresent, type ChosenId, type Holder, messageOf } from './looking.ts'
import { claimsMade } from './reading.ts'
import { traceOf } from './trace.ts'

/** `origin`: where a bridge brings it from. */
export async function send(holder: Holder, said: SendInput, origin?: Origin): Promise<SentMessage> {
  const { core, name, hasFiles } = holder
  checkSend(said, core.settings['limits.messageBytes'])
  if (hasFiles) checkAttachments(said)
  const { input, warnings } = withKnownType(said)
  checkPayload(input.type, input.payload, input.replyTo !== undefined)
  const span = () => {
    const to = recipientsOf(input).join(', ')
    return { name: `send ${to}`, kind: 'producer', attributes: traceOf('send', name, to) } as const
  }
  const sent = await inSpan(span, (traceparent) => {
    const stamped = traceparent === undefined ? input : { traceparent, ...input }
    const direct = (chosen = holder.chosen) => sendDirectly(holder, stamped, { ...chosen, origin })
    const isOwn = origin === undefined && holder.chosen === undefined
    const mayAsk = core.desk !== undefined && isOwn && !looksAtMessages(stamped, core.settings)
    return mayAsk ? core.desk!.send(name, stamped, direct) : direct()
  })
  sent.warnings.push(...warnings)
  return sent
}

/** What comes with a message besides what its sender says. */
interface SendExtras extends Partial<ChosenId> {
  /** Where a bridge has found it. */
  origin?: Origin | undefined
}

/** Decides and writes in this process. */
export async function sendDirectly(
  holder: Holder,
  input: SendInput,
  extras?: SendExtras,
): Promise<SentMessage> {
  try {
    return await sendOnce(holder, input, extras)
  } catch (error) {
    // The desk was asked as well, and may have more luck.
    if (extras?.since !== undefined && isLost(error)) throw openError(error)
    // A box may be full of mail that has expired. Do what is due before refusing.
    const isFull = error instanceof MailboxError && error.code === 'over_limit'
    if (!isFull || (await runDue(holder.core)) === 0) throw error
    return sendOnce(holder, input, extras)
  }
}

/** With the type by the name that the conversations have for it, and what its sender should know about it. */
function withKnownType(said: SendInput): { input: SendInput; warnings: string[] } {
  if (said.type === undefined) return { input: said, warnings: [] }
  const type = typeNamed(said.type)
  const warning = warnOfType(said.type)
  return {
    input: type === said.type ? said : { ...said, type },
    warnings: warning === undefined ? [] : [warning],
  }
}

async function sendOnce(holder: Holder, input: SendInput, extras: SendExtras = {}): Promise<SentMessage> {
  const { core, name: from, inTime } = holder
  // This runs for every message, so it waits only if there is something to wait for.
  const isBack = bePresent(holder)
  if (isBack !== undefined) await isBack
  if (anyIsGone(core, input)) await runDue(core)
  const parent = input.replyTo === undefined ? undefined : await messageOf(core, input.replyTo)
  const on = looksAtMessages(input, core.settings) ? 'index' : 'directory'
  // An answer would give away what was said.
  const encrypt = input.encrypt ?? (parent?.encrypted === 'recipients' || undefined)
  const said = { ...input, ...given({ encrypt }) }
  const { id, since, origin } = extras
  const decide = (basis: typeof on, more: Partial<SendCommand> = {}) =>
    core.decide(basis, (view, context) => {
      inTime?.(view)
      const there = since && findSent(core, view, { id: id!, since })
      const command = { from, input: said, parent, id, origin, ...more }
      if (there === undefined) return decideSend(view, command, context)
      return { drafts: [], result: { message: there, warnings: warningsOf(view, command, context) } }
    })
  let decided: Decided<Sent>
  try {
    decided = await decide(on)
  } catch (error) {
    if (!(error instanceof MailboxError) || error.code !== 'over_limit') throw error
    decided = await decide('index', { countsShares: true })
  }
  // Whoever wrote it may have been killed before the disk had it.
  if (since !== undefined && decided.placed.length === 0) syncEnd(core)
  // To answer mail to a role is to take it.
  if (decided.placed.length > 1) {
    const changes = decided.placed.flatMap(({ entry }) =>
      entry.kind === 'receipt' && entry.by === from ? entry.changes : [],
    )
    await claimsMade(holder, changes, decided.placed.at(-1)!.entry.seq)
  }
  return toSent(decided)
}

/** What the sender of a message that is there already would have been told with it: the answer was lost. */
function warningsOf(view: View, command: SendCommand, context: Context): string[] {
  const { key: _, supersede: __, ...input } = command.input
  try {
    return decideSend(view, { ...command, input }, context).result.warnings
  } catch (error) {
    if (error instanceof MailboxError) return []
    throw error
  }
}

type FoundMessage = StoredMessage & { scheduled?: true }

/** The message with an id that was chosen before it was sent, if it is there already. */
export function findSent(
  core: SpaceCore,
  { directory }: Pick<View, 'directory'>,
  { id, since }: Required<ChosenId>,
): FoundMessage | undefined {
  return directory.hasSince(since, id) === false ? undefined : findSince(core, id, since.seq)
}

/** The message with this id among those after a seq. The journal alone tells, so no index can make a send fail. */
function findSince({ journal, vault }: SpaceCore, id: string, seq: number): FoundMessage | undefined {
  for (let cursor = journal.locate(seq); ; ) {
    const read = journal.read(cursor)
    for (const { entry: stored } of read.entries) {
      const isMail = stored.kind === 'message' || stored.kind === 'scheduled'
      const entry = isMail && stored.message.id === id ? vault.open(stored) : undefined
      if (entry?.kind === 'message') return { seq: entry.seq, ...entry.message }
      if (entry?.kind === 'scheduled') return { seq: entry.seq, ...entry.message, scheduled: true }
    }
    if (read.entries.length === 0) return undefined
    cursor = read.cursor
  }
}

/** How long what was seen of a process counts. */
const lookedForMs = 1_000
const lookedAt = new WeakMap<SpaceCore, Map<string, number>>()

/** A sender is warned of a recipient whose process has ended, also when nobody has noticed that yet. */
const anyIsGone = (core: SpaceCore, input: SendInput): boolean =>
  recipientsOf(input).some((name) => {
    const agent = core.agents.get(name)
    const isOther = agent?.session.pid !== undefined && agent.session.pid !== process.pid
    return isOther && agent.state !== 'dead' && mayLook(core, name) && processState(agent.session) === 'gone'
  })

/** Whether nobody has looked at the process of an agent lately. */
function mayLook(core: SpaceCore, name: string): boolean {
  const looked = lookedAt.get(core) ?? new Map<string, number>()
  lookedAt.set(core, looked)
  const now = performance.now()
  if (now - (looked.get(name) ?? Number.NEGATIVE_INFINITY) < lookedForMs) return false
  looked.set(name, now)
  return true
}

function toSent({ result: { message, warnings }, placed }: Decided<Sent>): SentMessage {
  const seq = placed[0]?.entry.seq ?? message.seq
  if (seq === undefined) throw new MailboxError('internal', 'nothing was sent')
  const first = placed[0]?.entry
  const sealed = first?.kind === 'message' || first?.kind === 'scheduled' ? first.message.sealed : undefined
  const encrypted = sealed && { encrypted: audienceIn(sealed) }
  return { seq, ...message, ...encrypted, warnings } as SentMessage
}

export async function reply(holder: Holder, id: string, input: ReplyInput): Promise<SentMessage> {
  const original = await messageOf(holder.core, id)
  if (original.from === systemAgent && input.to === undefined) {
    throw new MailboxError('not_permitted', 'the system does not read mail', {
      hint: 'name a recipient: --to',
    })
  }
  const isPlain = original.subject === '' || /^re:/i.test(original.subject)
  const subject = isPlain ? original.subject : `Re: ${original.subject}`
  const defaults = {
    to: original.from === holder.name ? original.to : original.from,
    subject: subject.slice(0, 500),
    type: 'response',
  }
  return send(holder, { ...defaults, ...given(input), replyTo: original.id })
}

export async function withdraw({ core, name }: Holder, id: string): Promise<StoredMessage> {
  checkId(id)
  await bePresent({ core, name })
  const waiting = await core.query((source) => findScheduled(source, id))
  await core.record('index', (view) => {
    const scheduled = view.scheduled(id)
    return scheduled === undefined ? decideWithdraw(view, name, id) : decideUnschedule(scheduled, name)
  })
  return waiting === undefined ? messageOf(core, id) : asMessage(waiting)
}

export async function resend(holder: Holder, id: string, to: Addresses): Promise<SentMessage> {
  checkId(id)
  checkSend({ to }, holder.core.settings['limits.messageBytes'])
  const { core, name: agent } = holder
  await bePresent(holder)
  // Expired mail is listed as dead before anybody has recorded it.
  await runDue(core)
  return toSent(await core.decide('index', (view, context) => decideResend(view, { agent, id, to }, context)))
}
