import type { StoredMessage } from '../data/types.ts'

/** Quotes a word for the shell. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

const option = (name: string, value: string | undefined): string[] =>
  value === undefined || value === '' ? [] : [`--${name}`, quote(value)]

/** The command that sends the same message. */
export function asCommand(message: StoredMessage): string {
  const { from, to, subject, body, type, priority, replyTo, threadId, id } = message
  return [
    ...['mailbox', '--as', quote(from), 'send', ...to.map(quote)],
    ...option('subject', subject),
    ...option('type', type === 'text' ? undefined : type),
    ...option('priority', priority === 'normal' ? undefined : priority),
    ...option('reply-to', replyTo),
    ...option('thread', replyTo === undefined && threadId !== id ? threadId : undefined),
    ...message.tags.flatMap((tag) => option('tag', tag)),
    ...message.attachments.flatMap((path) => option('attach', path)),
    ...(message.requiresAck ? ['--ack'] : []),
    ...(message.awaitingResponse ? ['--await'] : []),
    ...option('payload', message.payload === undefined ? undefined : JSON.stringify(message.payload)),
    ...option('context', message.context === undefined ? undefined : JSON.stringify(message.context)),
    ...option('body', body),
  ].join(' ')
}
