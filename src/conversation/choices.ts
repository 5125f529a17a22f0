import type { Message } from '../model/message.ts'
import { fieldsOf } from './field.ts'
import { opens } from './matter.ts'
import { actionsFor, isWork } from './registry.ts'

/** A short answer to a message: `mailbox answer ID KEY`. */
export interface Choice {
  /** A number for a suggested answer, otherwise the step that is taken: `approve`, `ack`, `done`. */
  key: string
  label: string
}

/** As many as there are digits on a keyboard. */
const suggestedAtMost = 9

/** The answers that the sender of a message suggests. */
export function suggestedAnswers({ payload }: Pick<Message, 'payload'>): string[] {
  const { options } = fieldsOf(payload)
  const texts = Array.isArray(options) ? options : []
  return texts.filter((text) => typeof text === 'string' && text !== '').slice(0, suggestedAtMost) as string[]
}

/** What a message can be answered with in a word, the suggestions of its sender first. */
export function choicesOf(
  message: Pick<Message, 'type' | 'payload' | 'awaitingResponse' | 'requiresAck'>,
): Choice[] {
  const kind = opens(message)
  const suggested = suggestedAnswers(message).map((label, at) => ({ key: String(at + 1), label }))
  const steps = actionsFor(message.type).flatMap(({ step, button, command }) =>
    step === undefined ? [] : [{ key: step, label: button?.label ?? labelOf(command ?? step) }],
  )
  const done = kind !== undefined && isWork(kind) ? [{ key: 'done', label: 'Done' }] : []
  const ack = message.requiresAck && kind === undefined ? [{ key: 'ack', label: 'Acknowledge' }] : []
  return [...suggested, ...steps, ...done, ...ack]
}

const labelOf = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
