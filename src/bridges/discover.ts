import { realpathSync, statSync } from 'node:fs'
import { MailboxError } from '../base/errors.ts'
import { Folder } from './folder.ts'
import type { Format } from './format.ts'
import { Memory } from './memory.ts'
import { formats } from './registry.ts'

export interface FoundFolder {
  format: string
  path: string
  about: string
}

/** The folders of other systems that are in their usual places. */
export function discover(env: NodeJS.ProcessEnv, cwd: string): FoundFolder[] {
  return formats.flatMap((format) =>
    format
      .usualPaths(env, cwd)
      .filter((path) => fits(format, path))
      .map((path) => ({ format: format.name, path: realpathSync(path), about: format.about })),
  )
}

/** Where a format is on this machine, for whoever does not say. */
export function pathFor(format: Format, env: NodeJS.ProcessEnv, cwd: string): string {
  const usual = format.usualPaths(env, cwd)
  const found = usual.find((path) => fits(format, path))
  if (found !== undefined) return found
  throw new MailboxError('invalid', `which folder? There is no ${format.name} in ${usual.join(' or ')}`, {
    hint: `mailbox bridge ${format.name} PATH`,
  })
}

/** Whether a folder looks like one of a format. */
export function fits(format: Format, path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return false
  const memory = new Memory(':memory:')
  try {
    return format.fits(new Folder(realpathSync(path), memory, Date.now))
  } finally {
    memory.close()
  }
}
