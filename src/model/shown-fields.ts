import type { Kind } from './field.ts'
import { storedFields } from './fields.ts'
import type { Message } from './message.ts'

const shownFields = storedFields.filter(({ label }) => label !== undefined)

export interface ShownField {
  label: string
  text: string
  /** Has a section of its own where there is room for sections. */
  section: boolean
}

/** The fields that a reader sees under their labels, as text; those that the message does not have are left out. */
export function shownOf(message: Message): ShownField[] {
  return shownFields.flatMap(({ name, kind, label, say, section = false }) => {
    const value: unknown = message[name as keyof Message]
    const text = say === undefined || value === undefined ? asText(kind, value) : say(value)
    return text === '' ? [] : { label: label!, text, section }
  })
}

function asText(kind: Kind, value: unknown): string {
  if (value === undefined) return ''
  if (kind === 'json' || kind === 'object') return JSON.stringify(value)
  return Array.isArray(value) ? value.join(', ') : String(value)
}
