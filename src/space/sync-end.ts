import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { syncing } from '../journal/file/write-error.ts'
import type { SpaceCore } from './core.ts'

/** Has the disk confirm what another process wrote to the end of the journal. Earlier segments are confirmed. */
export function syncEnd({ dir, settings, lastSegment }: SpaceCore): void {
  if (settings.durability === 'os') return
  syncing(() => {
    const fd = openSync(join(dir, 'journal', lastSegment().name), 'r')
    try {
      fdatasyncSync(fd)
    } finally {
      closeSync(fd)
    }
  })
}
