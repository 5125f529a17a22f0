import type { AuditDraft, KeyDraft } from './entry.ts'

type Event = AuditDraft['event']

const about = (name: string | undefined, other = ''): string => (name === undefined ? other : ` ${name}`)

/** What happened, in words. Names are shown as they are: whoever prints this makes them printable. */
const sentences: Record<Event, (entry: AuditDraft) => string> = {
  refused: ({ by, about: what, note }) =>
    `${by} was refused to act as${about(what)}${note ? `: ${note}` : ''}`,
  token_created: ({ by, about: name, note }) => `${by} created a token for${about(name)}${inBrackets(note)}`,
  token_revoked: ({ by, about: name }) => `${by} revoked the token of${about(name)}`,
  token_rotated: ({ by, about: name }) => `${by} replaced the token of${about(name)}`,
  token_refused: ({ about: what, note }) => `the hub refused a token${about(what)}${inBrackets(note)}`,
  setting_changed: ({ by, about: key, note }) => `${by} changed the setting${about(key)}${inBrackets(note)}`,
  hub_started: ({ by, about: where }) => `${by} started the hub${where === undefined ? '' : ` on ${where}`}`,
  imported: ({ by, note }) => `${by} imported mail${inBrackets(note)}`,
  key_exported: ({ by, about: name }) => `${by} exported the key of${about(name)}`,
}

const inBrackets = (note: string | undefined): string => (note === undefined ? '' : ` (${note})`)

export const describeAudit = (entry: AuditDraft | KeyDraft): string =>
  entry.kind === 'audit'
    ? sentences[entry.event](entry)
    : `${entry.by} ${entry.change === 'rotated' ? 'replaced' : 'revoked'} the key of ${entry.agent}`
