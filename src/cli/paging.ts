import type { Command } from 'commander'
import type { Message } from '../model/message.ts'
import type { Cli } from './cli.ts'
import { whole } from './options.ts'

/** Paging, the same for every list. */
export interface PageFlags {
  limit?: number
  after?: string
}

export const addPaging = (command: Command): Command =>
  command
    .option('--limit <n>', 'how many to list (default 50)', whole(1))
    .option('--after <cursor>', 'list the next page: the `next` value of the previous one')

interface PageText {
  who: 'from' | 'to'
  empty: string
  /** The verb and its arguments, for the hint at the next page. */
  words: string
}

export async function answerPage(
  cli: Cli,
  { messages, next }: { messages: readonly Message[]; next: string | null },
  { who, empty, words }: PageText,
): Promise<void> {
  const { messageList } = await import('./format/message.ts')
  cli.answer({ messages, next }, () => (messages.length === 0 ? empty : messageList(cli, messages, who)))
  hintNext(cli, words, next)
}

export function hintNext(cli: Cli, words: string, next: string | null): void {
  if (next !== null && !cli.json) cli.hint(`next page: ${cli.command(`${words} --after ${next}`)}`)
}
