import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { readFileIfAny, writeFileAtomically } from '../base/files.ts'

/**
 * Mail is work for agents, so whoever provides the space gives them work. A `.mailbox` that is found in a project, which
 * may have come with a cloned repository, is used only if the person has agreed to it: by creating it with this
 * program, or with `mailbox trust`. That is recorded in the person's own configuration, one path a line, so that
 * `hook.sh` can read it with shell built-ins.
 */
export type Environment = Readonly<Record<string, string | undefined>>

export const spaceDirName = '.mailbox'

const defaultSpace = (env: Environment): string => join(env['HOME'] || homedir(), spaceDirName)

/** What this program keeps for the person, outside of every space. */
export const configDir = (env: Environment): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'agent-mailbox')

const trustFile = (env: Environment): string => join(configDir(env), 'spaces')

/** The spaces that the person has agreed to, besides the default one. */
export const trustedSpaces = (env: Environment): string[] =>
  (readFileIfAny(trustFile(env)) ?? '').split('\n').filter((line) => line !== '')

/** Whether a space that was found, not named, may be used. */
export function isTrusted(dir: string, env: Environment): boolean {
  const path = pathOf(dir)
  return path === pathOf(defaultSpace(env)) || trustedSpaces(env).includes(path)
}

/** Records that the person has agreed to a space. Returns false if it was recorded before. */
export function trustSpace(dir: string, env: Environment): boolean {
  const path = pathOf(dir)
  const known = trustedSpaces(env)
  if (known.includes(path) || path.includes('\n')) return false
  writeSpaces([...known, path], env)
  return true
}

/** Takes that back. Returns false if it was not recorded. */
export function distrustSpace(dir: string, env: Environment): boolean {
  const path = pathOf(dir)
  const known = trustedSpaces(env)
  if (!known.includes(path)) return false
  writeSpaces(
    known.filter((one) => one !== path),
    env,
  )
  return true
}

function writeSpaces(paths: readonly string[], env: Environment): void {
  const file = trustFile(env)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileAtomically(file, paths.map((path) => `${path}\n`).join(''))
}

/** The path of a space without symbolic links above it, as a shell sees it after `cd -P`. The space itself is never one. */
function pathOf(dir: string): string {
  const path = resolve(dir)
  const parent = dirname(path)
  return existsSync(parent) ? join(realpathSync(parent), basename(path)) : path
}

/** A space as it was found: the directory, and those on the way that nobody has agreed to. */
export interface FoundSpace {
  dir: string
  passedOver: string[]
}

/** The nearest `.mailbox` in a parent directory that the person has agreed to, otherwise `~/.mailbox`. */
export function nearestSpace(cwd: string, env: Environment): FoundSpace {
  const passedOver: string[] = []
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const candidate = join(dir, spaceDirName)
    if (existsSync(candidate)) {
      if (isTrusted(candidate, env)) return { dir: candidate, passedOver }
      passedOver.push(candidate)
    }
    if (dir === dirname(dir)) return { dir: defaultSpace(env), passedOver }
  }
}
