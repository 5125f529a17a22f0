import type { Message } from '../model/message.ts'
import { shownOf } from '../model/shown-fields.ts'
import { typeOf, waysToAnswer } from './registry.ts'
import { contextLines, type Fact, filesBesides, wordsOf } from './words.ts'

const markers = { low: '', normal: '', high: '[HIGH] ', urgent: '[URGENT] ' } as const

/** A message as an agent reads it. */
export function toMarkdown(message: Message): string {
  const { subject, body, facts, others, payload, context } = wordsOf(message)
  const lines = [
    `## ${markers[message.priority]}${oneLine(subject) || '(no subject)'}`,
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
  const [short, long] = [facts.filter(isShort), facts.filter((fact) => !isShort(fact))]
  lines.push(...short.map(({ label, text }) => `**${label}:** ${oneLine(text)}`), ...asks(message))
  const sentence = typeOf(message.type)?.sentence
  if (sentence !== undefined) lines.push('', sentence)
  lines.push('', '---', '', body)
  if (context !== undefined) lines.push('', '### Context', '', ...contextLines(context))
  const files = filesBesides(message, body)
  if (files.length > 0)
    lines.push('', '### Attachments', '', ...files.map((path) => `- \`${oneLine(path)}\``))
  for (const { label, text } of long) lines.push('', `### ${label}`, '', text)
  if (others.length + Number(payload !== undefined) > 0) lines.push('', '### Payload', '')
  lines.push(...others.map(({ label, text }) => `- **${oneLine(label)}:** ${oneLine(text)}`))
  if (payload !== undefined) lines.push('```json', JSON.stringify(payload, null, 2), '```')
  return lines.join('\n')
}

/** What the recipient is asked for, and the command that gives it. */
function asks({ id, type, requiresAck, awaitingResponse }: Message): string[] {
  const ways = waysToAnswer(type, id)
  return [
    ...(requiresAck ? [`**Needs an ack:** mailbox ack ${id}`] : []),
    ...(ways.length > 0 ? [`**To answer:** ${ways.join(' | ')}`] : []),
    ...(ways.length === 0 && awaitingResponse ? [`**Needs an answer:** mailbox reply ${id}`] : []),
  ]
}

/** A fact that fits into a line of the head; the others follow the body. */
const isShort = ({ text }: Fact): boolean => text.length <= 200 && !text.includes('\n')

/** The head is ours: nothing of the sender's may start a line of its own in it. */
const oneLine = (text: string): string => text.replace(/[\p{Zl}\p{Zp}\p{Cc}]+/gu, ' ').trim()
