import { person, systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import type { Encrypted } from '../model/sealed.ts'
import { shownOf } from '../model/shown-fields.ts'
import { signatureText } from '../model/signature-state.ts'
import { type Foreign, plainId, plainLine, plainThreadId, plainType } from './fence.ts'
import { typeOf, waysToAnswer } from './registry.ts'
import { contextLines, type Fact, filesBesides, listsOf, wordsOf } from './words.ts'

const markers = { low: '', normal: '', high: '[HIGH] ', urgent: '[URGENT] ' } as const

/** A message as a person reads it. For an agent, what its sender wrote has to be fenced: see {@link toFenced}. */
export function toMarkdown(message: Foreign): string {
  const { title, ours, said, asked, sentence, text } = partsOf(message)
  const about = sentence === undefined ? [] : ['', sentence]
  const head = [...ours, ...said, ...asked].map(inBold)
  return [title, '', ...head, ...about, '', '---', '', ...text].join('\n')
}

/** The parts of a message, for a reader who is shown them in another way than as Markdown. */
export function toParts(message: Foreign, handle: string) {
  const { ours, said, asked, sentence, text, mark, subject } = partsOf(message, handle)
  return { mark, subject, facts: [...ours, ...said, ...asked], sentence, text: text.join('\n') }
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
    ours: [...ours, ...asked].map(inBold).join('\n'),
    said: [title, ...said.map(inBold), '', ...text].join('\n').trimEnd(),
    about: sentence,
  }
}

/** What we say of a message. */
const headOf = (message: Foreign): Fact[] => [
  { label: 'From', text: message.from },
  { label: 'To', text: message.to.join(', ') },
  { label: 'Type', text: message.type },
  { label: 'Priority', text: message.priority },
  { label: 'Sent', text: `${message.createdAt.slice(0, 16).replace('T', ' ')} UTC` },
  { label: 'Id', text: message.id },
  ...(message.threadId === message.id ? [] : [{ label: 'Thread', text: message.threadId }]),
  ...(message.imported ? [{ label: 'Imported', text: importedWords(message) }] : []),
  ...proofOf(message),
]

/** A list begins on a line of its own. */
const inBold = ({ label, text }: Fact): string => `**${label}:**${text.startsWith('\n') ? '' : ' '}${text}`

/** For whom a message is encrypted. */
export const encryptedWords = ({ encrypted }: Encrypted): string =>
  encrypted === 'recipients' ? 'for its sender and its recipients' : 'for the members of this space'

/** Whether the sender has signed it. Of what was imported that is said already. */
const proofOf = ({ from, imported, signature }: Foreign): Fact[] =>
  signature === undefined || imported ? [] : [{ label: 'Signature', text: signatureText(signature, from) }]

/** What a reader has to know of a message that was not sent here. */
export const importedWords = ({ from }: Pick<Message, 'from'>): string =>
  from === person || from === systemAgent
    ? `yes; a file names ${from} as the sender`
    : 'yes; it was not sent in this space'

/** A message in parts: our words and those of its sender. */
function partsOf(message: Foreign, handle = message.id) {
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
  const [mark, named] = [markers[message.priority], oneLine(subject) || '(no subject)']
  return {
    ...{ mark, subject: named, title: `## ${mark}${named}` },
    ours: headOf(message),
    said: listsOf([...shown, ...short]).map(({ label, texts }): Fact => {
      const [first = '', ...more] = texts.map(oneLine)
      return { label, text: more.length === 0 ? first : ['', first, ...more].join('\n- ') }
    }),
    asked: asks(message, handle),
    sentence: typeOf(message.type)?.sentence,
    text: lines,
  }
}

/** What the recipient is asked for, and the command that gives it. */
function asks({ type, requiresAck, awaitingResponse }: Message, handle: string): Fact[] {
  const ways = waysToAnswer(type, handle)
  return [
    ...(requiresAck ? [{ label: 'Needs an ack', text: `mailbox ack ${handle}` }] : []),
    ...(ways.length > 0 ? [{ label: 'To answer', text: ways.join(' | ') }] : []),
    ...(ways.length === 0 && awaitingResponse
      ? [{ label: 'Needs an answer', text: `mailbox reply ${handle}` }]
      : []),
  ]
}

/** A fact that fits into a line of the head; the others follow the body. */
const isShort = ({ text }: Fact): boolean => text.length <= 200 && !text.includes('\n')

/** The head is ours: nothing of the sender's may start a line of its own in it. */
const oneLine = (text: string): string => text.replace(/[\p{Zl}\p{Zp}\p{Cc}]+/gu, ' ').trim()
