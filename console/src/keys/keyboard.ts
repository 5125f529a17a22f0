import { signal } from '@preact/signals'
import { go } from '../lib/go.ts'
import type { IconName } from '../parts/icon.tsx'
import { openCompose } from '../state/compose.ts'
import { canUndo, undoLast } from '../state/deferred.ts'
import { hasIntent, type Intent, runIntent } from './intents.ts'
import { listItems, moveInList } from './list-moves.ts'

/** The dialog that is open over the page. */
export const overlay = signal<'palette' | 'keys' | null>(null)

interface Key {
  keys: string
  does: string
  run: () => void
  /** In the command menu. @default play */
  icon?: IconName
  /** Whether it does anything on this page. @default always */
  isThere?: () => boolean
}

const intent = (keys: string, does: string, name: Intent, icon: IconName): Key => ({
  ...{ keys, does, icon, run: () => void runIntent(name), isThere: () => hasIntent(name) },
})
const page = (keys: string, does: string, href: string, icon: IconName): Key => ({
  ...{ keys, does, icon, run: () => go(href) },
})
const hasList = () => listItems.peek().hrefs.length > 0
const move = (step: 1 | -1, name: 'next' | 'previous') => () => void (runIntent(name) || moveInList(step))

/** All shortcuts. The help dialog lists them, and the command menu offers what works on the page. */
export const keys: readonly Key[] = [
  { keys: 'j', does: 'Next item', run: move(1, 'next'), isThere: hasList },
  { keys: 'k', does: 'Previous item', run: move(-1, 'previous'), isThere: hasList },
  intent('t', 'Triage: one at a time', 'triage', 'play'),
  intent('a', 'Approve or acknowledge', 'approve', 'check'),
  intent('x', 'Reject, with a reason', 'reject', 'close'),
  intent('r', 'Reply', 'reply', 'reply'),
  intent('h', 'Snooze', 'snooze', 'bell'),
  intent('e', 'Mark as done', 'finish', 'archive'),
  { keys: 'z', does: 'Undo', icon: 'back', run: () => void undoLast(), isThere: canUndo },
  intent('s', 'Select', 'select', 'check'),
  intent('S', 'Select all', 'selectAll', 'check'),
  { keys: 'c', does: 'New message', icon: 'pen', run: () => openCompose() },
  { keys: 'u', does: 'Back to list', icon: 'back', run: goBack, isThere: () => backLink() !== null },
  page('/', 'Search', '/search', 'search'),
  page('g i', 'Needs you', '/needs-you', 'inbox'),
  page('g l', 'While you were away', '/away', 'moon'),
  page('g t', 'Threads', '/threads', 'threads'),
  page('g a', 'Agents', '/agents', 'people'),
  page('g d', 'Dead letters', '/dead', 'alert'),
  page('g m', 'Metrics', '/stats', 'chart'),
  page('g w', 'Traffic', '/traffic', 'graph'),
  page('g p', 'Replay', '/replay', 'play'),
  page('g o', 'Audit', '/audit', 'ladder'),
  page('g s', 'Settings', '/settings', 'gear'),
  { keys: '?', does: 'Keyboard shortcuts', icon: 'letter', run: () => show('keys') },
]

/** Numbers choose among what a page offers, such as suggested answers. */
const pick = (pressed: string): boolean => /^[1-9]$/.test(pressed) && runIntent(`pick ${Number(pressed)}`)

export function show(what: 'palette' | 'keys' | null): void {
  overlay.value = what
}

const backLink = () => document.querySelector<HTMLAnchorElement>('.pane-back')

function goBack(): void {
  backLink()?.click()
}

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && target.type === 'checkbox')

const chordMs = 1_200

export function listenToKeys(): void {
  let first = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey) && !event.altKey) {
      event.preventDefault()
      show(overlay.value === 'palette' ? null : 'palette')
      return
    }
    if (event.key === 'Escape' && isTyping(event.target)) (event.target as HTMLElement).blur()
    else if (event.key === 'Escape' && !event.defaultPrevented && !isDialogOpen()) runIntent('leave')
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
    if (isTyping(event.target) || isDialogOpen()) return
    const pressed = first === '' ? event.key : `${first} ${event.key}`
    first = ''
    clearTimeout(timer)
    const key = keys.find((one) => one.keys === pressed)
    if (key !== undefined) {
      event.preventDefault()
      key.run()
    } else if (pick(pressed)) event.preventDefault()
    else if (keys.some((one) => one.keys.startsWith(`${pressed} `))) {
      first = pressed
      timer = setTimeout(() => {
        first = ''
      }, chordMs)
    }
  })
}
