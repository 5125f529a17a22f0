import type { AuditDraft, KeyDraft, ShareDraft } from './entry.ts'

/** What happened, in words. Names are as they were given: whoever prints this makes them printable. */
const sentences: Record<AuditDraft['event'], (entry: AuditDraft) => string> = {
  refused: ({ by, note }) => `${by} was not allowed to ${note}`,
  token_created: ({ by, about, note }) => `${by} created a token for ${about}${inBrackets(note)}`,
  token_revoked: ({ by, about }) => `${by} revoked the token of ${about}`,
  token_rotated: ({ by, about }) => `${by} replaced the token of ${about}`,
  token_refused: ({ note }) => `the hub refused ${note}`,
  setting_changed: ({ by, about, note }) => `${by} changed the setting ${about}${note ? ` to ${note}` : ''}`,
  role_granted: ({ by, about, note }) => `${by} gave ${about} the role ${note}`,
  hub_started: ({ by, about }) => `${by} started the hub on ${about}`,
  imported: ({ by, note }) => `${by} imported ${note}`,
  key_exported: ({ by, about }) => `${by} exported the key of ${about}`,
}

const inBrackets = (note: string | undefined): string => (note === undefined ? '' : ` (${note})`)

export function describeAudit(entry: AuditDraft | KeyDraft | ShareDraft): string {
  const { by } = entry
  if (entry.kind === 'audit') return sentences[entry.event](entry)
  if (entry.kind === 'key')
    return `${by} ${entry.change === 'rotated' ? 'replaced' : 'revoked'} the key of ${entry.agent}`
  const what = entry.change === 'created' ? 'a new key' : 'the key'
  return `${by} gave ${what} of the space to ${Object.keys(entry.for).join(', ')}`
}
