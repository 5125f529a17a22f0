import { given, isObject } from '../../base/objects.ts'
import type { Agent } from '../../model/agent.ts'
import type { Folder } from '../folder.ts'
import type { Fact } from '../format.ts'
import { isName, senderName, stringsIn } from '../letters.ts'
import { pythonLine } from '../python-json.ts'

const rosters = ['agent-roster.json', 'agent-roster.jsonl']

interface Session {
  session_id: string
  role?: string
  tags: string[]
}

/** The sessions of the roster, as a list, by name, or as lines of which the last counts. */
function sessionsOf(folder: Folder): Session[] {
  const found = new Map<string, Session>()
  for (const path of rosters) {
    const text = folder.read(path)?.text
    if (text === undefined) continue
    for (const value of path.endsWith('l') ? linesIn(text) : entriesIn(text)) {
      const id = isObject(value) ? value['session_id'] : undefined
      if (!isObject(value) || !isName(id)) continue
      const role = isName(value['role']) ? { role: value['role'] } : {}
      found.set(id, { session_id: id, ...role, tags: stringsIn(value['tags']) })
    }
  }
  return [...found.values()]
}

const linesIn = (text: string): unknown[] => text.split('\n').map(parsed)

function entriesIn(text: string): unknown[] {
  const value = parsed(text)
  if (Array.isArray(value)) return value
  if (!isObject(value)) return []
  const list = value['agents'] ?? value['sessions'] ?? value
  if (Array.isArray(list)) return list
  return isObject(list)
    ? Object.entries(list).map(([id, one]) => (isObject(one) ? { session_id: id, ...one } : undefined))
    : []
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export const sessionsIn = (folder: Folder): ReadonlySet<string> =>
  new Set(sessionsOf(folder).map((one) => one.session_id))

const rosterPath = (folder: Folder): string | undefined => rosters.find((path) => folder.has(path))

export function* readRoster(folder: Folder, format: string): Generator<Fact> {
  const path = rosterPath(folder)
  const file = path === undefined ? undefined : folder.changed(path)
  if (path === undefined || file === undefined) return
  const sessions = sessionsOf(folder)
  if (sessions.length === 0 && file.text.trim() !== '' && folder.isSettled(path))
    folder.problem(path, 'has no sessions in it', undefined, file.mark)
  for (const { session_id: id, role, tags } of sessions) {
    const roles = [...(role === undefined ? [] : [role]), ...rolesIn(tags)]
    const plain = tags.filter((tag) => !tag.startsWith('role:'))
    yield { kind: 'agent', name: senderName(format, id), roles, tags: plain.filter(isTag) }
  }
  yield { kind: 'mark', mark: file.mark }
}

const rolesIn = (tags: readonly string[]): string[] =>
  tags.flatMap((tag) => (tag.startsWith('role:') && isName(tag.slice(5)) ? [tag.slice(5)] : []))
const isTag = (tag: string): boolean => /^(?:[a-z][a-z0-9_-]{0,31}:)?[^:\s]+$/.test(tag)

/** Adds the agents of the space to the roster, so that others find them and their tags. */
export function writeRoster(folder: Folder, agents: readonly Agent[]): void {
  const path = rosterPath(folder)
  if (path === undefined) return
  const known = new Map(sessionsOf(folder).map((one) => [one.session_id, one]))
  const changed = agents
    .filter(({ gone }) => gone !== 'left')
    .map(({ name: id, tags, roles }) => ({
      session_id: id,
      tags: [...tags, ...roles.map((role) => `role:${role}`)],
    }))
    .filter(({ session_id: id, tags }) => !isSameList(known.get(id)?.tags, tags))
  if (changed.length === 0) return
  if (path.endsWith('l')) for (const one of changed) folder.append(path, pythonLine(one))
  else replaceRoster(folder, path, changed)
}

const isSameList = (a: readonly string[] | undefined, b: readonly string[]): boolean =>
  a !== undefined && a.length === b.length && a.every((one) => b.includes(one))

/** In the shape that it has. */
function replaceRoster(folder: Folder, path: string, changed: readonly Session[]): void {
  const file = folder.read(path)
  const value = parsed(file?.text ?? '')
  const ids = changed.map((one) => one.session_id)
  const merge = (list: readonly unknown[]) => [
    ...list.map((one) => {
      const ours = isObject(one) ? changed.find(({ session_id: id }) => id === one['session_id']) : undefined
      return ours === undefined ? one : { ...(one as object), ...ours }
    }),
    ...changed.filter(({ session_id: id }) =>
      list.every((one) => !isObject(one) || one['session_id'] !== id),
    ),
  ]
  const put = (next: unknown) =>
    folder.replace(path, `${JSON.stringify(next, null, 2)}\n`, given({ since: file?.mark }))
  if (Array.isArray(value)) put(merge(value))
  if (!isObject(value)) return
  const key = ['agents', 'sessions'].find((one) => Array.isArray(value[one]))
  const next =
    key === undefined
      ? {
          ...value,
          ...Object.fromEntries(
            ids.map((id, at) => [id, { ...(value[id] as object), tags: changed[at]!.tags }]),
          ),
        }
      : { ...value, [key]: merge(value[key] as unknown[]) }
  put(next)
}
