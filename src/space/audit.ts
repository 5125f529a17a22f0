import type { AuditDraft } from '../model/entry.ts'
import type { SpaceCore } from './core.ts'

/** Records something for whoever audits the space. */
export async function recordEvent(core: SpaceCore, event: Omit<AuditDraft, 'kind'>): Promise<void> {
  await core.record('directory', () => [{ kind: 'audit', ...event }])
}

/** The same where what happened must not fail because it cannot be recorded, such as a refusal on a full disk. */
export async function tryToRecord(core: SpaceCore, event: Omit<AuditDraft, 'kind'>): Promise<void> {
  await recordEvent(core, event).catch(() => {})
}
