import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { WriterLock } from '../journal/file/lock.ts'

const patienceMs = 10_000

/** Runs `work` while no other process does the same in this directory. The lock of one that is killed is free. */
export function aloneIn<T>(dir: string, work: () => T): T {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const lock = new WriterLock(join(dir, 'lock'))
  try {
    return lock.withSync(work, patienceMs)
  } finally {
    lock.close()
  }
}
