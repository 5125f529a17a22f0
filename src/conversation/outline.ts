import { isObject } from '../base/objects.ts'
import { messageIdPattern } from '../model/id.ts'
import type { Message } from '../model/message.ts'
import type { Fields } from './field.ts'
import { typeOf } from './registry.ts'
import { withinMs } from './request.ts'

/** In any payload: a deadline, and which message it is about. */
const always: Fields = {
  withinMs,
  about: {
    kind: 'any',
    outline: (id) => (typeof id === 'string' && messageIdPattern.test(id) ? id : true),
  },
}

/**
 * What stays readable of the payload of an encrypted message: what matters are opened and settled by, so that everybody
 * sees the same of what is open, with or without a key. Each field says for itself what that is.
 */
export function outlineOf({ type, payload }: Pick<Message, 'type' | 'payload'>): Message['payload'] {
  if (!isObject(payload)) return undefined
  const kept = Object.entries<Fields[string]>({ ...always, ...typeOf(type)?.payload }).flatMap(
    ([name, { outline }]) => {
      const value: unknown = Object.hasOwn(payload, name) ? payload[name] : undefined
      const stays = value === undefined ? undefined : outline?.(value)
      return stays === undefined ? [] : [[name, stays] as const]
    },
  )
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
