import { isDeepStrictEqual } from 'node:util'
import { MailboxError } from '../../base/errors.ts'
import { addElement, addProperty, nodeAt, removeAt, replaceValue } from './json-text.ts'
import { isObject, type Json, parseSettings } from './json-value.ts'
import { ourEvent } from './our-entries.ts'

/** `hooks` of a settings file: events, of each a list of groups, of each a list of hooks. */
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
  /** Where the hook stands: hooks, event, group, hooks, hook. */
  path: readonly ['hooks', string, number, 'hooks', number]
  hook: Hook
}

/** Our own hooks among all of a file's. */
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

/** An event can have two hooks of ours that do different things. */
const purpose = (event: string, hook: Hook): string => `${event} ${ourEvent(hook.command)}`

/** Adds the hooks that are missing, mends those of another version, and takes out those no longer wanted. */
export function installHooks(text: string, wanted: Hooks): string {
  const missing = new Map<string, [event: string, group: HookGroup]>()
  for (const [event, groups] of Object.entries(wanted))
    for (const group of groups) missing.set(purpose(event, group.hooks[0]!), [event, group])
  let now = removeHooks(text, missingOnce(new Set(missing.keys())))
  for (const { event, path, hook } of findOurHooks(parseSettings(now))) {
    const want = missing.get(purpose(event, hook))![1].hooks[0]!
    missing.delete(purpose(event, hook))
    // Whatever else the person has put into the entry, such as a longer timeout, stays.
    const mended = { ...want, ...hook, command: want.command }
    if (!isDeepStrictEqual(mended, hook)) now = replaceValue(now, path, mended)
  }
  for (const event of Object.keys(wanted)) {
    const groups = [...missing.values()].filter(([of]) => of === event).map(([, group]) => group)
    if (groups.length > 0) now = addGroups(now, event, groups)
  }
  return now
}

/** Says of each hook whether it may stay: the first for each purpose. */
function missingOnce(purposes: Set<string>): (found: Found) => boolean {
  return ({ event, hook }) => !purposes.delete(purpose(event, hook))
}

function addGroups(text: string, event: string, added: readonly HookGroup[]): string {
  const { hooks } = parseSettings(text)
  if (hooks === undefined) return addGroups(addProperty(text, [], 'hooks', {}), event, added)
  if (!isObject(hooks)) throw new MailboxError('invalid', '"hooks" is not an object in it')
  const groups = hooks[event]
  if (groups === undefined) return addProperty(text, ['hooks'], event, added)
  if (!Array.isArray(groups)) throw new MailboxError('invalid', `hooks.${event} is not a list in it`)
  return added.reduce((now, group) => addElement(now, ['hooks', event], group), text)
}

/** Takes hooks of ours out, by default all. A group, an event and `hooks` itself go with the last in them. */
export function removeHooks(text: string, which: (found: Found) => boolean = () => true): string {
  const unwanted = findOurHooks(parseSettings(text)).filter(which)
  // From the last on, so that the places of the others stay.
  return unwanted.reverse().reduce((now, { path }) => removeHook(now, path), text)
}

function removeHook(text: string, path: Found['path']): string {
  const now = removeAt(text, path)
  if ((nodeAt(now, path.slice(0, 4))?.children?.length ?? 0) > 0) return now
  return removeIfEmpty(removeIfEmpty(removeAt(now, path.slice(0, 3)), path.slice(0, 2)), ['hooks'])
}

/** Takes out a list or object with nothing in it, not even a comment. */
export function removeIfEmpty(text: string, path: readonly (string | number)[]): string {
  const node = nodeAt(text, path)
  if (node === undefined) return text
  return /^[[{]\s*[\]}]$/.test(text.slice(node.offset, node.offset + node.length))
    ? removeAt(text, path)
    : text
}

/** `hooks` as it would be without ours, for comparing; undefined when nothing is left. */
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
