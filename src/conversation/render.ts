import { person, systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import type { Encrypted } from '../model/sealed.ts'
import { shownOf } from '../model/shown-fields.ts'
import { signatureText } from '../model/signature-state.ts'
import { type Foreign, plainId, plainLine, plainThreadId, plainType } from './fence.ts'
import { typeOf, waysToAnswer } from './registry.ts'
import { contextLines, type Fact, filesBesides, wordsOf } from './words.ts'

const markers = { low: '', normal: '', high: '[HIGH] ', urgent: '[URGENT] ' } as const

/** A message as a person reads it. For an agent, what its sender wrote has to be fenced: see {@link toFenced}. */
export function toMarkdown(message: Foreign): string {
  const { title, ours, said, asked, sentence, text } = partsOf(message)
  const about = sentence === undefined ? [] : ['', sentence]
  return [title, '', ...ours, ...said, ...asked, ...about, '', '---', '', ...text].join('\n')
}

/** A message as an agent reads it: our words, and what its sender wrote, which belongs between marks. */
export function toFenced(message: Foreign): { ours: string; said: string; about: string | undefined } {
  const { title, said, asked, sentence, text } = partsOf(message)
  const { from, to } = message
  const ours = headOf({
    ...{ ...message, from: plainLine(from), to: to.map(plainLine), type: plainType(message.type) },
    ...{ id: plainId(message), threadId: plainThreadId(message) },
  })
  return {
    ours: [...ours, ...asked].join('\n'),
    said: [title, ...said, '', ...text].join('\n').trimEnd(),
    about: sentence,
  }
}

/** What we say of a message. */
const headOf = (message: Foreign): string[] => [
  `**From:** ${message.from}`,
  `**To:** ${message.to.join(', ')}`,
  `**Type:** ${message.type}`,
  `**Priority:** ${message.priority}`,
  `**Sent:** ${message.createdAt.slice(0, 16).replace('T', ' ')} UTC`,
  `**Id:** ${message.id}`,
  ...(message.threadId === message.id ? [] : [`**Thread:** ${message.threadId}`]),
  ...(message.imported ? [`**Imported:** ${importedWords(message)}`] : []),
  ...proofOf(message),
]

/** For whom a message is encrypted. */
export const encryptedWords = ({ encrypted }: Encrypted): string =>
  encrypted === 'recipients' ? 'for its sender and its recipients' : 'for the members of this space'

/** Whether the sender has signed it. Of what was imported that is said already. */
const proofOf = ({ from, imported, signature }: Foreign): string[] =>
  signature === undefined || imported ? [] : [`**Signature:** ${signatureText(signature, from)}`]

/** What a reader has to know of a message that was not sent here. */
export const importedWords = ({ from }: Pick<Message, 'from'>): string =>
  from === person || from === systemAgent
    ? `yes; a file names ${from} as the sender`
    : 'yes; it was not sent in this space'

/** A message in parts: our words and those of its sender. */
function partsOf(message: Foreign) {
  const { subject, body, facts, others, payload, context } = wordsOf(message)
  const shown = shownOf(message).filter(({ section }) => !section)
  const [short, long] = [facts.filter(isShort), facts.filter((fact) => !isShort(fact))]
  const lines = [body]
  if (context !== undefined) lines.push('', '### Context', '', ...contextLines(context))
  const files = filesBesides(message, body)
  if (files.length > 0)
    lines.push('', '### Attachments', '', ...files.map((path) => `- \`${oneLine(path)}\``))
  for (const { label, text } of long) lines.push('', `### ${label}`, '', text)
  if (others.length + Number(payload !== undefined) > 0) lines.push('', '### Payload', '')
  lines.push(...others.map(({ label, text }) => `- **${oneLine(label)}:** ${oneLine(text)}`))
  if (payload !== undefined) lines.push('```json', JSON.stringify(payload, null, 2), '```')
  return {
    title: `## ${markers[message.priority]}${oneLine(subject) || '(no subject)'}`,
    ours: headOf(message),
    said: [...shown, ...short].map(({ label, text }) => `**${label}:** ${oneLine(text)}`),
    asked: asks(message),
    sentence: typeOf(message.type)?.sentence,
    text: lines,
  }
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
