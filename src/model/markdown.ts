import type { Message } from './message.ts'

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
  if (message.swarm !== undefined) lines.push(`**Swarm:** ${message.swarm}`)
  if (message.requiresAck) lines.push(`**Wants an ack:** mailbox ack ${message.id}`)
  if (message.awaitingResponse) lines.push(`**Waits for an answer:** mailbox reply ${message.id}`)
  lines.push('', '---', '', message.body)
  if (message.context !== undefined) lines.push('', '### Context', '', ...contextLines(message.context))
  if (message.attachments.length > 0) {
    lines.push('', '### Attachments', '', ...message.attachments.map((path) => `- \`${oneLine(path)}\``))
  }
  if (message.payload !== undefined) {
    lines.push('', '### Payload', '', '```json', JSON.stringify(message.payload, null, 2), '```')
  }
  return lines.join('\n')
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
