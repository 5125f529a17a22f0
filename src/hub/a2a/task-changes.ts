import type { StreamResponse, Task } from '@a2a-js/sdk'
import type { Entry } from '../../model/entry.ts'
import type { MailTask } from './task.ts'

/** Whether an entry may change what is known of a task. */
export function concernsTask(entry: Entry, { root, latest }: Pick<MailTask, 'root' | 'latest'>): boolean {
  if (entry.kind === 'message') return entry.message.threadId === root.threadId
  if (entry.kind !== 'receipt') return false
  return entry.changes.some(({ id }) => id === root.id || id === latest.id)
}

/** What has changed in a task, as events: new artifacts first, then its status. */
export function updatesBetween(before: Task, now: Task): StreamResponse[] {
  const known = new Set(before.artifacts.map(({ artifactId }) => artifactId))
  const ids = { taskId: now.id, contextId: now.contextId, metadata: undefined }
  const artifacts = now.artifacts
    .filter(({ artifactId }) => !known.has(artifactId))
    .map(
      (artifact): StreamResponse => ({
        payload: { $case: 'artifactUpdate', value: { ...ids, artifact, append: false, lastChunk: true } },
      }),
    )
  const isSame =
    before.status?.state === now.status?.state &&
    before.status?.message?.messageId === now.status?.message?.messageId
  if (isSame) return artifacts
  return [...artifacts, { payload: { $case: 'statusUpdate', value: { ...ids, status: now.status } } }]
}
