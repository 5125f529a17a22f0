import type { Message } from './message.ts'
import { shownOf } from './shown-fields.ts'

const markers = { low: '', normal: '', high: '[HIGH] ', urgent: '[URGENT] ' } as const

/** A message as an agent reads it. */
export function toMarkdown(message: Message): string {
  const lines = [
    `## ${markers[message.priority]}${oneLine(message.subject) || '(no subject)'}`,
    '',
    `**From:** ${message.from}`,
    `**To:** ${message.to.join(', ')}`,
    `**Type:** ${message.type}`,
    `**Priority:** ${message.priority}`,
    `**Sent:** ${message.createdAt.slice(0, 16).replace('T', ' ')} UTC`,
    `**Id:** ${message.id}`,
  ]
  if (message.threadId !== message.id) lines.push(`**Thread:** ${message.threadId}`)
  for (const { label, text } of shownOf(message).filter(({ section }) => !section))
    lines.push(`**${label}:** ${oneLine(text)}`)
  lines.push(...said(message), ...waysToAnswer(message))
  lines.push('', '---', '', message.body)
  if (message.context !== undefined) lines.push('', '### Context', '', ...contextLines(message.context))
  if (message.attachments.length > 0) {
    lines.push('', '### Attachments', '', ...message.attachments.map((path) => `- \`${oneLine(path)}\``))
  }
  const rest = unsaid(message)
  if (rest !== undefined) lines.push('', '### Payload', '', '```json', JSON.stringify(rest, null, 2), '```')
  return lines.join('\n')
}

/** What the payload of a known type says, in words, so that nobody has to read JSON. */
const sayings: Partial<Record<string, Partial<Record<string, (value: unknown) => string>>>> = {
  plan_submission: { taskId: (id) => `**Task:** ${inline(id)}`, withinMs: within },
  plan_approval: {
    approved: (yes) => `**Verdict:** ${yes === true ? 'approved' : 'rejected'}`,
    feedback: () => '',
  },
  shutdown_request: { reason: () => '', withinMs: within },
  shutdown_response: {
    accepted: (yes) => `**Answer:** ${yes === true ? 'accepted' : 'deferred'}`,
    reason: () => '',
  },
  status_request: { withinMs: within },
  status_response: statusSayings(),
  status_update: statusSayings(),
  task_assignment: { taskId: (id) => `**Task:** ${inline(id)}`, withinMs: within },
  help_request: { withinMs: within },
}

function statusSayings() {
  return {
    taskId: (id: unknown) => `**Task:** ${inline(id)}`,
    status: (status: unknown) => `**Status:** ${inline(status)}`,
    progress: (share: unknown) => `**Progress:** ${Math.round(Number(share) * 100)} %`,
  }
}

function within(ms: unknown): string {
  return `**Wanted within:** ${Math.round(Number(ms) / 1_000)} s`
}

const fieldsOf = ({ payload }: Message): [string, unknown][] =>
  payload !== null && typeof payload === 'object' && !Array.isArray(payload) ? Object.entries(payload) : []

function said(message: Message): string[] {
  const known = sayings[message.type] ?? {}
  return fieldsOf(message).flatMap(([key, value]) => oneLine(known[key]?.(value) ?? '') || [])
}

/** What the payload says beyond that. */
function unsaid(message: Message): unknown {
  const known = sayings[message.type]
  if (known === undefined) return message.payload
  const rest = fieldsOf(message).filter(([key]) => known[key] === undefined)
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

/** What the recipient is asked for, and the command that gives it. */
function waysToAnswer({ id, type, requiresAck, awaitingResponse }: Message): string[] {
  const ways = answers[type]
  const wishes =
    ways === undefined && awaitingResponse ? [`**Waits for an answer:** mailbox reply ${id}`] : []
  const given =
    ways === undefined ? [] : [`**To answer:** ${ways.map((way) => way.replace('ID', id)).join(' | ')}`]
  return [...(requiresAck ? [`**Wants an ack:** mailbox ack ${id}`] : []), ...given, ...wishes]
}

const taskWays = ['mailbox start ID', 'mailbox done ID', 'mailbox fail ID --reason R']
const answers: Partial<Record<string, readonly string[]>> = {
  plan_submission: ['mailbox plan approve ID', 'mailbox plan reject ID --feedback F'],
  shutdown_request: ['mailbox shutdown accept ID', 'mailbox shutdown defer ID --reason R'],
  status_request: ['mailbox status --reply-to ID --status S'],
  help_request: ['mailbox reply ID --body B'],
  task_assignment: taskWays,
  handoff: taskWays,
  fix_ci_failure: taskWays,
  fix_review_comments: taskWays,
}

/** The head is ours: nothing of the sender's may start a line of its own in it. */
const oneLine = (text: string): string => text.replace(/[\p{Zl}\p{Zp}\p{Cc}]+/gu, ' ').trim()

function contextLines(context: Record<string, unknown>): string[] {
  return Object.entries(context).flatMap(([key, value]) => {
    if (Array.isArray(value)) return [`- **${key}:**`, ...value.map((item) => `  - ${inline(item)}`)]
    return [`- **${key}:** ${inline(value)}`]
  })
}

const inline = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
