import { lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { notAFile, readTextFile, writeFileAtomically } from '../base/files.ts'
import { parseStrictJson } from '../base/json.ts'
import { isObject } from '../base/objects.ts'
import { dirForAddress } from '../journal/copy/origin.ts'
import { isPostgresAddress, mustHideNothing, parseAddress } from '../journal/postgres/address.ts'
import { nameToFile } from '../model/name.ts'
import { defaultSettings, isSettingKey, type Settings, settings } from '../model/settings.ts'
import { type Environment, type FoundSpace, nearestSpace } from './trust.ts'

/** The settings in effect. Those that only a newer program knows are left alone: see {@link unknownSettings}. */
export function readSettings(dir: string): Settings {
  const path = configFile(dir)
  const merged: Settings = { ...defaultSettings }
  for (const [key, value] of Object.entries(readConfig(path) ?? {})) {
    if (!isSettingKey(key)) continue
    if (!settings[key].check(value))
      throw badConfig(path, `invalid value for ${key}: ${JSON.stringify(value)}`)
    Object.assign(merged, { [key]: value })
  }
  return merged
}

/** Settings of the space that this program does not know: of a newer one, or misspelled. They have no effect. */
export const unknownSettings = (dir: string): string[] =>
  Object.keys(readConfig(configFile(dir)) ?? {}).filter((key) => !isSettingKey(key))

const configFile = (dir: string): string => join(dir, 'config.json')

/** The object in a JSON file; undefined when there is no file. */
function readConfig(path: string): Record<string, unknown> | undefined {
  const text = readTextFile(path)
  if (text === undefined) return undefined
  let found: unknown
  try {
    found = parseStrictJson(text)
  } catch (cause) {
    throw badConfig(path, (cause as Error).message)
  }
  if (isObject(found)) return found
  throw badConfig(path, 'not a JSON object')
}

const badConfig = (path: string, why: string) =>
  new MailboxError('invalid', `${path}: ${why}`, {
    hint: 'fix the file, or remove it to use the defaults',
  })

/** Writes one setting. The file is replaced as a whole, so that no reader sees half of it. */
export function writeSetting(dir: string, key: string, value: unknown): Settings {
  if (!isSettingKey(key)) {
    const hint = `settings: ${Object.keys(settings).join(', ')}`
    throw new MailboxError('invalid', `unknown setting ${JSON.stringify(key)}`, { hint })
  }
  if (!settings[key].check(value)) {
    const hint = settings[key].about
    throw new MailboxError('invalid', `invalid value for ${key}: ${JSON.stringify(value)}`, { hint })
  }
  const path = configFile(dir)
  writeFileAtomically(path, `${JSON.stringify({ ...readConfig(path), [key]: value }, null, 2)}\n`)
  return readSettings(dir)
}

/** The settings that were changed in this space, without what must stay in it: secrets, and paths of this machine. */
export function ownSettings(dir: string): Partial<Settings> {
  const config = readConfig(configFile(dir)) ?? {}
  const keys = Object.keys(settings).filter(isSettingKey)
  return Object.fromEntries(
    keys.flatMap((key) => (Object.hasOwn(config, key) && settings[key].exported ? [[key, config[key]]] : [])),
  )
}

/** Writes those of these settings that were not changed in this space yet. Returns them. */
export function writeSettings(dir: string, given: Partial<Settings>): Partial<Settings> {
  const path = configFile(dir)
  const config = readConfig(path) ?? {}
  const added = Object.fromEntries(Object.entries(given).filter(([key]) => !Object.hasOwn(config, key)))
  if (Object.keys(added).length > 0)
    writeFileAtomically(path, `${JSON.stringify({ ...config, ...added }, null, 2)}\n`)
  return added
}

export interface FindSpaceOptions {
  /** The directory given by the caller (`--space`). */
  given?: string | undefined
  env: Environment
  cwd: string
}

/** An address never becomes a directory of that name. */
function checkDirectory(named: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(named)) return named
  throw new MailboxError('invalid', `${JSON.stringify(named.slice(0, 200))} is an address, not a directory`, {
    hint: 'name the directory of a space on this machine: --space DIR, or one in a database: postgres://USER@HOST/DATABASE?space=NAME; a program reaches a hub with openSpace({ url, token })',
  })
}

/**
 * Finds the space: the one given, MAILBOX_SPACE, the nearest `.mailbox` in a parent directory that the person has
 * agreed to, or `~/.mailbox`.
 */
export function findSpace({ given, env, cwd }: FindSpaceOptions): FoundSpace {
  const named = given ?? env['MAILBOX_SPACE']
  if (named !== undefined && isPostgresAddress(named)) {
    if (given !== undefined) mustHideNothing(given)
    return { dir: dirForAddress(parseAddress(named), env), passedOver: [] }
  }
  if (named !== undefined && named !== '') return { dir: resolve(cwd, checkDirectory(named)), passedOver: [] }
  return nearestSpace(cwd, env)
}

/**
 * Creates the directory if needed. Rejects one that other users can read or write. One of another user can be looked
 * at: what is returned then is the error for whoever wants to write.
 */
export function ensureSpaceDir(dir: string): MailboxError | undefined {
  mkdirSync(checkDirectory(dir), { recursive: true, mode: 0o700 })
  return checkSpaceDir(dir)
}

/**
 * The same for a directory that must exist. No file of a space is used through a symbolic link, which could lead
 * anywhere: none may be in it, or among the files of the hooks.
 */
export function checkSpaceDir(dir: string): MailboxError | undefined {
  const refuse = (why: string, hint: string) => {
    throw new MailboxError('not_permitted', why, { hint })
  }
  if (lstatSync(dir).isSymbolicLink())
    refuse(`${dir} is a symbolic link`, 'use the path of the directory itself')
  const link = findLink(dir) ?? findLink(join(dir, 'hooks'))
  if (link !== undefined) throw notAFile(link)
  const { mode, uid } = statSync(dir)
  if (process.getuid !== undefined && uid !== process.getuid())
    return new MailboxError('not_permitted', `${dir} belongs to another user: it can be read, not written`, {
      hint: 'use a directory of your own: --space DIR',
    })
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    refuse(`other users can read or write ${dir}`, `make it private: chmod 700 ${dir}`)
  return undefined
}

function findLink(dir: string): string | undefined {
  try {
    const found = readdirSync(dir, { withFileTypes: true }).find((entry) => entry.isSymbolicLink())
    return found === undefined ? undefined : join(dir, found.name)
  } catch {
    // There is no such directory, or it cannot be listed: opening what is in it says so.
    return undefined
  }
}

/** A template of the space: `templates/NAME.json`. */
export function readTemplate(dir: string, name: string): Record<string, unknown> | undefined {
  return readConfig(join(dir, 'templates', `${nameToFile(name)}.json`))
}
