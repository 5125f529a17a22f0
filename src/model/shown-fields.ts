import { storedFields } from './fields.ts'
import type { Message } from './message.ts'

const shownFields = storedFields.filter(({ label }) => label !== undefined)

export interface ShownField {
  label: string
  text: string
  section: boolean
}

/** The fields that a reader sees under their labels, as text; those that the message does not have are left out. */
export function shownOf(message: Message): ShownField[] {
  return shownFields.flatMap(({ name, label, section = false }) => {
    const text = asText(message[name as keyof Message])
    return text === '' ? [] : { label: label!, text, section }
  })
}

function asText(value: unknown): string {
  if (value === undefined || typeof value === 'string') return value ?? ''
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isList ? value.join(', ') : JSON.stringify(value)
}
