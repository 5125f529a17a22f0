import { defuse } from '../../conversation/defuse.ts'
import { titleOf } from '../../conversation/words.ts'
import type { Message } from '../../model/message.ts'
import { toPrintable, toPrintableLine, withoutHidden } from '../../model/text.ts'
import type { Cli } from '../cli.ts'

type Reader = Pick<Cli, 'nonce'>

/** Text of a sender between marks: nothing in it steers a terminal, hides, or reads as a mark. */
export const foreignText = (text: string): string => defuse(withoutHidden(toPrintable(text)))

/** One word, or a number and its unit, which nobody takes for a sentence of ours. */
const harmless = /^(?:[\w.#%-]{1,40}|\d+ \w{1,3})$/

/** A line of a sender among lines of ours, in quotes for a reader that could take it for ours. */
export const foreignWords = ({ nonce }: Reader, text: string): string =>
  nonce === undefined || harmless.test(text)
    ? text
    : JSON.stringify(defuse(withoutHidden(toPrintableLine(text))))

/** The subject of a message among lines of ours. */
export function subjectIn(reader: Reader, message: Pick<Message, 'subject' | 'type' | 'payload'>): string {
  const title = titleOf(message)
  return title === '' ? noSubject : foreignWords(reader, title)
}

export const noSubject = '(no subject)'
