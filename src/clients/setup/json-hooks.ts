import { isDeepStrictEqual } from 'node:util'
import { MailboxError } from '../../base/errors.ts'
import { isObject } from '../../base/objects.ts'
import { addAt, nodeAt, removeAt, replaceValue } from './json-text.ts'
import { type Json, parseSettings } from './json-value.ts'
import { ourEvent } from './our-entries.ts'

/** `hooks` of a settings file: for each event a list of groups, each with a list of hooks. */
export type Hooks = Record<string, HookGroup[]>

interface HookGroup {
  matcher?: string
  hooks: Hook[]
}

interface Hook extends Json {
  command: string
}

interface Found {
  hook: Hook
  path: readonly ['hooks', event: string, group: number, 'hooks', hook: number]
  /** We can have two hooks for one event that do different things. */
  purpose: string
}

const isOurHook = (hook: unknown): hook is Hook => isObject(hook) && ourEvent(hook['command']) !== undefined
const purposeOf = (event: string, hook: Hook): string => `${event} ${ourEvent(hook.command)}`

/** Our hooks among all hooks of a file. */
export function findOurHooks(settings: Json): Found[] {
  const found: Found[] = []
  const { hooks } = settings
  for (const [event, groups] of isObject(hooks) ? Object.entries(hooks) : []) {
    for (const [at, group] of Array.isArray(groups) ? groups.entries() : []) {
      const inner: unknown = isObject(group) ? group['hooks'] : undefined
      for (const [index, hook] of Array.isArray(inner) ? inner.entries() : []) {
        const path = ['hooks', event, at, 'hooks', index] as const
        if (isOurHook(hook)) found.push({ hook, path, purpose: purposeOf(event, hook) })
      }
    }
  }
  return found
}

/** Adds missing hooks, updates those of another version, and removes those no longer wanted. */
export function installHooks(text: string, wanted: Hooks): string {
  const all = Object.entries(wanted).flatMap(([event, groups]) =>
    groups.map((group) => ({ event, group, hook: group.hooks[0]! })),
  )
  const missing = new Map(all.map((each) => [purposeOf(each.event, each.hook), each]))
  const first = new Set(missing.keys())
  let now = removeHooks(text, ({ purpose }) => !first.delete(purpose))
  for (const { hook, path, purpose } of findOurHooks(parseSettings(now))) {
    const want = missing.get(purpose)!.hook
    missing.delete(purpose)
    // Keeps whatever the person has added to the entry, such as a longer timeout.
    const updated = { ...want, ...hook, command: want.command }
    if (!isDeepStrictEqual(updated, hook)) now = replaceValue(now, path, updated)
  }
  for (const event of Object.keys(wanted)) {
    const groups = [...missing.values()].filter((each) => each.event === event).map(({ group }) => group)
    if (groups.length > 0) now = addGroups(now, event, groups)
  }
  return now
}

function addGroups(text: string, event: string, added: readonly HookGroup[]): string {
  const { hooks } = parseSettings(text)
  if (hooks === undefined) return addGroups(addAt(text, [], {}, 'hooks'), event, added)
  if (!isObject(hooks)) throw new MailboxError('invalid', 'its "hooks" is not an object')
  const groups = hooks[event]
  if (groups === undefined) return addAt(text, ['hooks'], added, event)
  if (!Array.isArray(groups)) throw new MailboxError('invalid', `its hooks.${event} is not a list`)
  return added.reduce((now, group) => addAt(now, ['hooks', event], group), text)
}

/** Removes our hooks, by default all, with each group, event and `hooks` object that becomes empty. */
export function removeHooks(text: string, which: (found: Found) => boolean = () => true): string {
  const unwanted = findOurHooks(parseSettings(text)).filter(which)
  // From the last one backwards, so that the other paths stay valid.
  return unwanted.reverse().reduce((now, { path }) => removeHook(now, path), text)
}

function removeHook(text: string, path: Found['path']): string {
  const now = removeAt(text, path)
  if ((nodeAt(now, path.slice(0, 4))?.children?.length ?? 0) > 0) return now
  return removeIfEmpty(removeIfEmpty(removeAt(now, path.slice(0, 3)), path.slice(0, 2)), ['hooks'])
}

/** Removes a list or object that contains nothing, not even a comment. */
export function removeIfEmpty(text: string, path: readonly (string | number)[]): string {
  const { offset, length } = nodeAt(text, path)!
  return /^[[{]\s*[\]}]$/.test(text.slice(offset, offset + length)) ? removeAt(text, path) : text
}

/** `hooks` without ours, for comparison; undefined when nothing is left. */
export function hooksWithoutOurs(hooks: unknown): unknown {
  if (!isObject(hooks)) return hooks
  const rest: Json = {}
  for (const [event, groups] of Object.entries(hooks)) {
    const kept = Array.isArray(groups) ? groups.flatMap(groupWithoutOurs) : groups
    if (!(Array.isArray(kept) && kept.length === 0)) rest[event] = kept
  }
  return Object.keys(rest).length === 0 ? undefined : rest
}

function groupWithoutOurs(group: unknown): unknown[] {
  if (!(isObject(group) && Array.isArray(group['hooks']))) return [group]
  const hooks = group['hooks'] as unknown[]
  const kept = hooks.filter((hook) => !isOurHook(hook))
  return kept.length === 0 && hooks.length > 0 ? [] : [{ ...group, hooks: kept }]
}
