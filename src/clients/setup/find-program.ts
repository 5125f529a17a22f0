import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of a program that a shell would find. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const dirs = (env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return dirs.map((dir) => join(dir, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
