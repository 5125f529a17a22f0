import { MailboxError } from '../base/errors.ts'

/** What a token is good for. */
export const scopes = ['metrics', 'read-own', 'act', 'read-all', 'bridge'] as const
export type Scope = (typeof scopes)[number]

/** An agent that works: its own mailbox, and nothing else. */
export const defaultScopes: readonly Scope[] = ['act', 'read-own']

/**
 * A token from before there were scopes. It reads the metrics as well: such a one was documented for Prometheus, which
 * would be locked out.
 */
export const earlyScopes: readonly Scope[] = [...defaultScopes, 'metrics']

export const isScope = (word: unknown): word is Scope => scopes.includes(word as Scope)

/** Reads `act,read-own`. */
export function parseScopes(text: string): Scope[] {
  const words = text.split(',').map((word) => word.trim())
  const unknown = words.find((word) => !isScope(word))
  if (unknown === undefined) return scopes.filter((scope) => words.includes(scope))
  throw new MailboxError('invalid', `unknown scope ${JSON.stringify(unknown.slice(0, 40))}`, {
    hint: `scopes: ${scopes.join(', ')}; several are separated by commas`,
  })
}
