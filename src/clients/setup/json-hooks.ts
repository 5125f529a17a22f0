import { isDeepStrictEqual } from 'node:util'
import { MailboxError } from '../../base/errors.ts'
import { addElement, addProperty, nodeAt, removeAt, replaceValue } from './json-text.ts'
import { isObject, type Json, parseSettings } from './json-value.ts'
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
  event: string
  /** The path of the hook: hooks, event, group, hooks, hook. */
  path: readonly ['hooks', string, number, 'hooks', number]
  hook: Hook
}

/** Our hooks among all hooks of a file. */
export function findOurHooks(settings: Json): Found[] {
  const found: Found[] = []
  const { hooks } = settings
  for (const [event, groups] of isObject(hooks) ? Object.entries(hooks) : []) {
    for (const [at, group] of Array.isArray(groups) ? groups.entries() : []) {
      const inner: unknown = isObject(group) ? group['hooks'] : undefined
      for (const [index, hook] of Array.isArray(inner) ? inner.entries() : []) {
        if (isObject(hook) && ourEvent(hook['command']) !== undefined)
          found.push({ event, path: ['hooks', event, at, 'hooks', index], hook: hook as Hook })
      }
    }
  }
  return found
}

/** We can have two hooks for one event that do different things. */
const purpose = (event: string, hook: Hook): string => `${event} ${ourEvent(hook.command)}`

/** Adds missing hooks, updates those of another version, and removes those no longer wanted. */
export function installHooks(text: string, wanted: Hooks): string {
  const missing = new Map<string, [event: string, group: HookGroup]>()
  for (const [event, groups] of Object.entries(wanted))
    for (const group of groups) missing.set(purpose(event, group.hooks[0]!), [event, group])
  let now = removeHooks(text, isSurplus(new Set(missing.keys())))
  for (const { event, path, hook } of findOurHooks(parseSettings(now))) {
    const want = missing.get(purpose(event, hook))![1].hooks[0]!
    missing.delete(purpose(event, hook))
    // Keeps whatever the person has added to the entry, such as a longer timeout.
    const updated = { ...want, ...hook, command: want.command }
    if (!isDeepStrictEqual(updated, hook)) now = replaceValue(now, path, updated)
  }
  for (const event of Object.keys(wanted)) {
    const groups = [...missing.values()].filter(([of]) => of === event).map(([, group]) => group)
    if (groups.length > 0) now = addGroups(now, event, groups)
  }
  return now
}

/** Selects the hooks to remove: all but the first for each purpose. */
function isSurplus(purposes: Set<string>): (found: Found) => boolean {
  return ({ event, hook }) => !purposes.delete(purpose(event, hook))
}

function addGroups(text: string, event: string, added: readonly HookGroup[]): string {
  const { hooks } = parseSettings(text)
  if (hooks === undefined) return addGroups(addProperty(text, [], 'hooks', {}), event, added)
  if (!isObject(hooks)) throw new MailboxError('invalid', 'its "hooks" is not an object')
  const groups = hooks[event]
  if (groups === undefined) return addProperty(text, ['hooks'], event, added)
  if (!Array.isArray(groups)) throw new MailboxError('invalid', `its hooks.${event} is not a list`)
  return added.reduce((now, group) => addElement(now, ['hooks', event], group), text)
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
  const node = nodeAt(text, path)
  if (node === undefined) return text
  return /^[[{]\s*[\]}]$/.test(text.slice(node.offset, node.offset + node.length))
    ? removeAt(text, path)
    : text
}

/** `hooks` without ours, for comparison; undefined when nothing is left. */
export function hooksWithoutOurs(hooks: unknown): unknown {
  if (!isObject(hooks)) return hooks
  const rest: Json = {}
  for (const [event, groups] of Object.entries(hooks)) {
    const kept = Array.isArray(groups) ? groups.map(groupWithoutOurs).filter(isThere) : groups
    if (!(Array.isArray(kept) && kept.length === 0)) rest[event] = kept
  }
  return Object.keys(rest).length === 0 ? undefined : rest
}

const isThere = (group: unknown): boolean => group !== undefined

function groupWithoutOurs(group: unknown): unknown {
  if (!(isObject(group) && Array.isArray(group['hooks']))) return group
  const hooks = group['hooks'] as unknown[]
  const kept = hooks.filter((hook) => !(isObject(hook) && ourEvent(hook['command']) !== undefined))
  return kept.length === 0 && hooks.length > 0 ? undefined : { ...group, hooks: kept }
}
