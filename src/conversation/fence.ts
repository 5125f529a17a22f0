import { randomBytes } from 'node:crypto'
import { person, systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import { shownOf } from '../model/shown-fields.ts'
import { toPrintableLine, withoutControls } from '../model/text.ts'
import { typeOf } from './registry.ts'
import { contextLines, wordsOf } from './words.ts'

export interface FenceOptions {
  /** Cut what is longer. */
  chars?: number
  /** @default random */
  nonce?: string
}

/** What no sender can know when it writes. */
const newNonce = (): string => randomBytes(6).toString('hex')

/**
 * Foreign text for a model to read: data, never instructions. Who sent it and how far to trust it stands
 * outside, in our words; what was sent stands between two marks that hold a nonce, so that nothing in it
 * can end it. Characters that steer terminals or reorder text are gone.
 */
export function fence(message: Message, options: FenceOptions = {}): string {
  const { nonce = newNonce(), chars } = options
  const { subject, body, facts, others, payload, context } = wordsOf(message)
  const said = [...facts, ...others].map((fact) => `${fact.label}: ${fact.text}`)
  const shown = shownOf({ ...message, payload, context: undefined } as Message)
  const whole = [
    subject && `# ${subject.replace(/\s+/g, ' ')}`,
    [body, ...said].filter(Boolean).join('\n'),
    ...shown.map(({ label, text }) => `${label.toLowerCase()}: ${text}`),
    context && ['context:', ...contextLines(context)].join('\n'),
  ]
    .filter(Boolean)
    .join('\n\n')
  const text = withoutControls(whole)
  const isCut = chars !== undefined && text.length > chars
  const cut = isCut ? `${cutAt(text, chars)}…` : text
  const rest = isCut ? [`(${text.length - chars} more characters: mailbox read ${message.id})`] : []
  return [heading(message), `<<<mail ${nonce}`, cut, `mail ${nonce}>>>`, ...rest].join('\n')
}

/** What a reader has to know before it reads. */
function heading({ id, from, type, priority, requiresAck, awaitingResponse }: Message): string {
  const who =
    from === person
      ? 'the person you work for'
      : from === systemAgent
        ? 'the mailbox itself'
        : 'another agent'
  const wishes = [requiresAck ? 'needs an ack' : '', awaitingResponse ? 'needs an answer' : ''].filter(
    Boolean,
  )
  // Names and types are words of the sender: quoted, and a type that is no plain word is not repeated.
  const kind = /^[a-z][a-z0-9_-]{0,39}$/i.test(type) ? type : 'other'
  const name = from === person || from === systemAgent ? from : JSON.stringify(from)
  const head = `Message ${id} from ${who} ${name}, ${[kind, priority, ...wishes].join(', ')}.`
  return toPrintableLine([head, typeOf(type)?.sentence].filter(Boolean).join(' '))
}

/** Never half a character. */
const cutAt = (text: string, chars: number): string => text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')
