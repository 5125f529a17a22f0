import { constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { mayAccess } from './file.ts'

/** The path of a program that a shell would find. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const dirs = (env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return dirs
    .map((dir) => join(dir, name))
    .find((path) => mayAccess(path, constants.X_OK) && statSync(path).isFile())
}
