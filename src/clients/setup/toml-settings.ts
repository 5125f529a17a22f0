import { readFileSync } from 'node:fs'
import { parse, stringify, type TomlTable } from 'smol-toml'
import { MailboxError } from '../../base/errors.ts'
import { foreignServer } from './json-settings.ts'
import { isOurServer, updateServer } from './our-entries.ts'
import { type Statement, scanInline, scanToml } from './toml-scan.ts'

const section = ['mcp_servers', 'mailbox']
const name = 'mcp_servers.mailbox'

/** Adds the MCP server as a table, or updates the existing one. */
export function installToml(text: string, server: TomlTable): string {
  const before = parseToml(text)
  const there = serverIn(before)
  if (there !== undefined && !isOurServer(there)) throw foreignServer(name)
  const wanted = updateServer(there, server)
  if (there !== undefined && isSame(there, wanted)) return text
  const candidates = [
    () => updateInPlace(text, server),
    () => addTable(removeServer(text), wanted),
    () => addInline(removeServer(text), wanted),
  ]
  for (const candidate of candidates) {
    const now = candidate()
    if (now !== undefined && isAsWanted(before, now, wanted)) return now
  }
  throw new MailboxError('invalid', `cannot add ${name} without changing other entries`, {
    hint: `add the table [${name}] by hand; see docs/clients.md`,
  })
}

export function uninstallToml(text: string): string {
  const before = parseToml(text)
  if (!isOurServer(serverIn(before))) return text
  const now = removeServer(text)
  if (isAsWanted(before, now, undefined)) return now
  throw new MailboxError('invalid', `cannot remove ${name} without changing other entries`, {
    hint: 'remove it by hand',
  })
}

/** A parsed file; empty when there is none, or it cannot be parsed. */
export function readToml(path: string): TomlTable {
  try {
    return parseToml(readFileSync(path, 'utf8').replace(/^\ufeff/, ''))
  } catch {
    return {}
  }
}

function parseToml(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' })
  } catch (error) {
    const [reason] = (error as Error).message.split('\n')
    const { line, column } = error as { line?: number; column?: number }
    const where = line === undefined ? '' : ` at line ${line}, column ${column}`
    throw new MailboxError(
      'invalid',
      `it is not TOML: ${reason!.replace(/^Invalid TOML document: /, '')}${where}`,
    )
  }
}

const serverIn = (settings: TomlTable): TomlTable | undefined =>
  (settings[section[0]!] as TomlTable | undefined)?.[section[1]!] as TomlTable | undefined

/** Whether the text differs from before only in our server, which is as wanted. */
function isAsWanted(before: TomlTable, text: string, wanted: TomlTable | undefined): boolean {
  try {
    const after = parseToml(text)
    return isSame(serverIn(after) ?? {}, wanted ?? {}) && isSame(withoutServer(after), withoutServer(before))
  } catch {
    return false
  }
}

/** The same values in the same order. */
const isSame = (a: TomlTable, b: TomlTable): boolean => stringify(a) === stringify(b)

function withoutServer(settings: TomlTable): TomlTable {
  const { [section[0]!]: servers, ...rest } = settings
  const others = Object.entries((servers ?? {}) as TomlTable).filter(([key]) => key !== section[1])
  return others.length === 0 ? rest : { ...rest, [section[0]!]: Object.fromEntries(others) }
}

const eolOf = (text: string): string => (/\r\n/.test(text) ? '\r\n' : '\n')
const isUnder = (path: readonly string[], head: readonly string[]): boolean =>
  head.every((key, at) => path[at] === key)

/** One pair per key. smol-toml would write an inner table as a header, which cannot be inside ours. */
const pairs = (server: TomlTable): string[] =>
  Object.entries(server).map(
    ([key, value]) => `${stringify({ [key]: 0 }).split(' = ')[0]} = ${inline(value)}`,
  )

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (value instanceof Date || value === null || typeof value !== 'object')
    return stringify({ v: value } as TomlTable)
      .trim()
      .slice('v = '.length)
  return `{ ${pairs(value as TomlTable).join(', ')} }`
}

function addTable(text: string, server: TomlTable): string {
  const eol = eolOf(text)
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  return `${text}${gap}${[`[${name}]`, ...pairs(server)].join(eol)}${eol}`
}

/** Entries can be added to `mcp_servers = { … }` only inside its braces. */
function addInline(text: string, server: TomlTable): string | undefined {
  const outer = scanToml(text).find(({ kind, path }) => kind === 'pair' && path.join('.') === section[0])
  if (outer === undefined || text[outer.value.start] !== '{') return undefined
  const last = scanInline(text, outer.value.start).at(-1)
  const at = last?.end ?? outer.value.start + 1
  const added = `${section[1]} = ${inline(server)}`
  const rest =
    last === undefined ? ` ${added} }${text.slice(outer.value.end)}` : `, ${added}${text.slice(at)}`
  return text.slice(0, at) + rest
}

/** Replaces the values of our own keys in place, and adds the missing ones. */
function updateInPlace(text: string, server: TomlTable): string | undefined {
  const statements = scanToml(text)
  const header = statements.find(({ kind, path }) => kind === 'table' && isSection(path))
  if (header === undefined) return undefined
  let now = text
  const wanted = new Map(Object.entries(server))
  for (const { kind, path, value } of statements.reverse()) {
    const key = path[section.length]
    if (kind !== 'pair' || !isUnder(path, section) || path.length !== section.length + 1 || !wanted.has(key!))
      continue
    now = now.slice(0, value.start) + inline(wanted.get(key!)) + now.slice(value.end)
    wanted.delete(key!)
  }
  const added = pairs(Object.fromEntries(wanted)).map((pair) => eolOf(text) + pair)
  const at = lineEnd(now, header.end)
  return now.slice(0, at) + added.join('') + now.slice(at)
}

const isSection = (path: readonly string[]): boolean =>
  path.length === section.length && isUnder(path, section)

/** The text without the server, however it is written there. */
function removeServer(text: string): string {
  const ours = scanToml(text).filter(({ path }) => isUnder(path, section))
  const shorter = ours.reverse().reduce(removeLine, text)
  const outer = scanToml(shorter).find(({ kind, path }) => kind === 'pair' && path.join('.') === section[0])
  if (outer === undefined || shorter[outer.value.start] !== '{') return shorter
  return scanInline(shorter, outer.value.start)
    .filter(({ path }) => path[0] === section[1])
    .reverse()
    .reduce(removeMember, shorter)
}

function removeLine(text: string, { kind, start, end }: Statement): string {
  let from = text.lastIndexOf('\n', start) + 1
  const to = Math.min(text.length, lineEnd(text, end) + (text.startsWith('\r\n', lineEnd(text, end)) ? 2 : 1))
  // The empty line before the table was added with it.
  if (kind === 'table') from -= /(?<=\n)\r?\n$/.exec(text.slice(0, from))?.[0].length ?? 0
  return text.slice(0, from) + text.slice(to)
}

function removeMember(text: string, { start, end }: Statement): string {
  const before = /,\s*$/.exec(text.slice(0, start))
  if (before !== null) return text.slice(0, before.index) + text.slice(end)
  const after = /^\s*,\s*/.exec(text.slice(end))
  return text.slice(0, start) + text.slice(end + (after?.[0].length ?? 0))
}

function lineEnd(text: string, from: number): number {
  const at = text.slice(from).search(/\r?\n/)
  return at === -1 ? text.length : from + at
}
