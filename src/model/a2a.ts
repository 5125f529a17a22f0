import { parseAddress } from './address.ts'

/** The addresses in a list such as `role:architect, ada`: agents and roles, which one agent answers for. */
export const exposedAddresses = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** Whether a list names agents and roles only: a group has no single answer. */
export function isExposable(value: unknown): boolean {
  if (typeof value !== 'string') return false
  return exposedAddresses(value).every((word) => {
    try {
      return ['agent', 'role'].includes(parseAddress(word).kind)
    } catch {
      return false
    }
  })
}

/** The start of the key of a message that came as an A2A message: by it a repeated one is known, and a task. */
export const a2aKey = 'a2a:'
