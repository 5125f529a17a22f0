import { basename, dirname, join, resolve } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { readTextFile, writeFileAtomically } from '../base/files.ts'
import { isObject } from '../base/objects.ts'
import { checkLabel } from '../model/name.ts'
import { isoTime } from '../model/time.ts'
import { parseSearch } from '../query/search-terms.ts'

/** What the person has arranged for themselves, in `person.json`. It changes nothing for anybody else. */
export interface PersonFile {
  /** Saved searches by name. */
  views: Record<string, string>
  /** Messages that the person does not want to see before a time. */
  snoozed: Record<string, string>
}

const viewsAtMost = 100
const snoozedAtMost = 1_000
const pathIn = (dir: string): string => join(dir, 'person.json')

/** The strings in an object; none for anything else, such as what a damaged file has left. */
const stringsIn = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).filter(
      (one): one is [string, string] => typeof one[1] === 'string',
    ),
  )

export function readPersonFile(dir: string): PersonFile {
  let found: unknown
  try {
    found = JSON.parse(readTextFile(pathIn(dir)) ?? '{}')
  } catch {
    // Nothing depends on it: a file that cannot be read costs the views and the snoozes, and no mail.
  }
  const { views, snoozed } = isObject(found) ? found : {}
  return { views: stringsIn(views), snoozed: stringsIn(snoozed) }
}

const write = (dir: string, file: PersonFile): void =>
  writeFileAtomically(pathIn(dir), `${JSON.stringify(file, null, 2)}\n`)

/** Saves a search under a name; without a query, removes it. */
export function saveView(dir: string, name: string, query: string | null): PersonFile {
  checkLabel(name, 'view')
  if (/\s/.test(name))
    throw new MailboxError('invalid', `view ${JSON.stringify(name)} contains a space`, {
      hint: 'use one word, such as night-shift',
    })
  const file = readPersonFile(dir)
  const { [name]: known, ...others } = file.views
  if (query === null && known === undefined) throw unknownView(name, file.views)
  if (query !== null) parseSearch(query)
  if (query !== null && Object.keys(others).length >= viewsAtMost)
    throw new MailboxError('over_limit', `there are ${viewsAtMost} views already`, { hint: 'remove one' })
  const views = query === null ? others : { ...others, [name]: query.trim() }
  write(dir, { ...file, views })
  return { ...file, views }
}

/** The query of a saved search, for `@name`. */
export function viewNamed(dir: string, name: string): string {
  const { views } = readPersonFile(dir)
  const query = views[name]
  if (query === undefined) throw unknownView(name, views)
  return query
}

function unknownView(name: string, views: Record<string, string>): MailboxError {
  const known = Object.keys(views)
  return new MailboxError('not_found', `no saved search named ${JSON.stringify(name.slice(0, 60))}`, {
    hint: known.length === 0 ? 'save one: mailbox search QUERY --save NAME' : `saved: ${known.join(', ')}`,
  })
}

/** Hides messages from the person's list until a time; without one, shows them again. */
export function snooze(dir: string, ids: readonly string[], until: number | null, now: number): PersonFile {
  const file = readPersonFile(dir)
  const kept = Object.entries(file.snoozed).filter(
    ([id, time]) => !ids.includes(id) && Date.parse(time) > now,
  )
  const added = until === null ? [] : ids.map((id): [string, string] => [id, isoTime(until)])
  const snoozed = Object.fromEntries([...kept, ...added].slice(-snoozedAtMost))
  write(dir, { ...file, snoozed })
  return { ...file, snoozed }
}

/** What people call a space that has no name of its own: the directory it is for. */
export function spaceName(dir: string): string {
  const whole = resolve(dir)
  const own = basename(whole)
  return own === '.mailbox' ? basename(dirname(whole)) || own : own
}
