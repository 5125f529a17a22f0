import { expect, test } from 'vitest'
import { describeAudit } from '../../src/model/audit.ts'
import type { AuditDraft, KeyDraft, ShareDraft } from '../../src/model/entry.ts'

const told = (event: AuditDraft['event'], fields: Partial<AuditDraft> = {}) =>
  describeAudit({ kind: 'audit', event, by: 'user', about: 'ada', note: 'a note', ...fields } as AuditDraft)
const short = { note: undefined }

test.each<[AuditDraft['event'], string, string]>([
  ['refused', 'user was not allowed to a note', 'user was not allowed to undefined'],
  ['token_created', 'user created a token for ada (a note)', 'user created a token for ada'],
  ['token_revoked', 'user revoked the token of ada', 'user revoked the token of ada'],
  ['token_rotated', 'user replaced the token of ada', 'user replaced the token of ada'],
  ['setting_changed', 'user changed the setting ada to a note', 'user changed the setting ada'],
  ['hub_started', 'user started the hub on ada', 'user started the hub on ada'],
  ['key_exported', 'user exported the key of ada', 'user exported the key of ada'],
])('%s is told in words', (event, whole, without) => {
  expect(told(event)).toBe(whole)
  if (event !== 'refused') expect(told(event, short)).toBe(without)
})

test('what needs a note has it', () => {
  expect(told('token_refused')).toBe('the hub refused a note')
  expect(told('role_granted', { note: 'lead' })).toBe('user gave ada the role lead')
  expect(told('imported', { note: '7 messages' })).toBe('user imported 7 messages')
})

test('what becomes of keys is told too', () => {
  const key = { kind: 'key', agent: 'ada', by: 'user' } as KeyDraft
  expect(describeAudit({ ...key, change: 'rotated' })).toBe('user replaced the key of ada')
  expect(describeAudit({ ...key, change: 'revoked' })).toBe('user revoked the key of ada')
  const share = { kind: 'share', by: 'user', for: { ada: 'x', bob: 'y' } } as unknown as ShareDraft
  expect(describeAudit({ ...share, change: 'created' })).toBe('user gave a new key of the space to ada, bob')
  expect(describeAudit({ ...share, change: 'shared' })).toBe('user gave the key of the space to ada, bob')
})
