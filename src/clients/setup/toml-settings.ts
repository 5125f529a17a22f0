import { parse, stringify, type TomlTable } from 'smol-toml'
import { MailboxError } from '../../base/errors.ts'
import { foreignServer } from './json-settings.ts'
import { isOurServer, updateServer } from './our-entries.ts'
import { type Statement, scanInline, scanToml } from './toml-scan.ts'

const servers = 'mcp_servers'
const server = 'mailbox'
const name = `${servers}.${server}`

/** Adds the MCP server as a table, or updates the existing one. */
export function installToml(text: string, entry: TomlTable): string {
  const before = parseToml(text)
  const there = serverIn(before)
  if (there !== undefined && !isOurServer(there)) throw foreignServer(name)
  const wanted = updateServer(there, entry)
  if (there !== undefined && isSame(there, wanted)) return text
  const candidates = [
    () => updateInPlace(text, entry),
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

export function parseToml(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' })
  } catch (error) {
    const [reason] = (error as Error).message.split('\n')
    const { line, column } = error as { line?: number; column?: number }
    const where = line === undefined ? '' : ` at line ${line}, column ${column}`
    const what = reason!.replace(/^Invalid TOML document: /, '')
    throw new MailboxError('invalid', `it is not TOML: ${what}${where}`)
  }
}

const serverIn = (settings: TomlTable): TomlTable | undefined =>
  (settings[servers] as TomlTable | undefined)?.[server] as TomlTable | undefined

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
  const { [servers]: all = {}, ...rest } = settings
  const { [server]: _, ...others } = all as TomlTable
  return Object.keys(others).length === 0 ? rest : { ...rest, [servers]: others }
}

const eolOf = (text: string): string => (/\r\n/.test(text) ? '\r\n' : '\n')
const isOurs = ({ path }: Statement): boolean => path[0] === servers && path[1] === server

/** One pair per key. smol-toml would write an inner table as a header, which cannot be inside ours. */
const pairs = (table: TomlTable): string[] =>
  Object.entries(table).map(([key, value]) => `${stringify({ [key]: 0 }).split(' = ')[0]} = ${inline(value)}`)

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (value instanceof Date || value === null || typeof value !== 'object')
    return stringify({ v: value } as TomlTable)
      .trim()
      .slice('v = '.length)
  return `{ ${pairs(value as TomlTable).join(', ')} }`
}

function addTable(text: string, entry: TomlTable): string {
  const eol = eolOf(text)
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  return `${text}${gap}${[`[${name}]`, ...pairs(entry)].join(eol)}${eol}`
}

/** `mcp_servers = { … }` as a whole. */
const inlineServers = (text: string): Statement | undefined =>
  scanToml(text).find(
    ({ kind, path, value }) => kind === 'pair' && path.join('.') === servers && text[value] === '{',
  )

/** Entries can be added to inline servers only inside the braces. */
function addInline(text: string, entry: TomlTable): string | undefined {
  const outer = inlineServers(text)
  if (outer === undefined) return undefined
  const last = scanInline(text, outer.value).at(-1)
  const added = `${server} = ${inline(entry)}`
  if (last === undefined) return `${text.slice(0, outer.value)}{ ${added} }${text.slice(outer.end)}`
  return `${text.slice(0, last.end)}, ${added}${text.slice(last.end)}`
}

/** Replaces the values of our own keys in place, and adds the missing ones. */
function updateInPlace(text: string, entry: TomlTable): string | undefined {
  const ours = scanToml(text).filter(isOurs)
  const header = ours.find(({ kind, path }) => kind === 'table' && path.length === 2)
  if (header === undefined) return undefined
  let now = text
  const wanted = new Map(Object.entries(entry))
  for (const { kind, path, value, end } of ours.reverse()) {
    const key = path[2]!
    if (kind !== 'pair' || path.length !== 3 || !wanted.has(key)) continue
    now = now.slice(0, value) + inline(wanted.get(key)) + now.slice(end)
    wanted.delete(key)
  }
  const added = pairs(Object.fromEntries(wanted)).map((pair) => eolOf(text) + pair)
  const at = lineEnd(now, header.end)
  return now.slice(0, at) + added.join('') + now.slice(at)
}

/** The text without the server, however it is written there. */
function removeServer(text: string): string {
  const shorter = scanToml(text).filter(isOurs).reduceRight(removeLine, text)
  const outer = inlineServers(shorter)
  const members = outer === undefined ? [] : scanInline(shorter, outer.value)
  return members.filter(({ path }) => path[0] === server).reduceRight(removeMember, shorter)
}

function removeLine(text: string, { kind, start, end }: Statement): string {
  const before = text.slice(0, text.lastIndexOf('\n', start) + 1)
  const after = text.slice(lineEnd(text, end)).replace(/^\r?\n/, '')
  // The empty line before the table was added with it.
  return (kind === 'table' ? before.replace(/(?<=\n)\r?\n$/, '') : before) + after
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
