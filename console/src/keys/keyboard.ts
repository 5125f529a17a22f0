import { signal } from '@preact/signals'
import { go } from '../lib/go.ts'
import { openCompose } from '../state/compose.ts'
import { runFinish, runReply } from './intents.ts'
import { moveInList } from './list-moves.ts'

/** The dialog that is open over the page. */
export const overlay = signal<'palette' | 'keys' | null>(null)

interface Key {
  keys: string
  does: string
  run: () => void
}

/** All shortcuts. The help dialog lists them, and the command menu offers most of them. */
export const keys: readonly Key[] = [
  { keys: 'j', does: 'Next item', run: () => moveInList(1) },
  { keys: 'k', does: 'Previous item', run: () => moveInList(-1) },
  { keys: 'r', does: 'Reply', run: runReply },
  { keys: 'c', does: 'New message', run: () => openCompose() },
  { keys: 'e', does: 'Mark as done', run: runFinish },
  { keys: 'u', does: 'Back to list', run: goBack },
  { keys: '/', does: 'Search', run: () => go('/search') },
  { keys: 'g i', does: 'Needs you', run: () => go('/needs-you') },
  { keys: 'g t', does: 'Threads', run: () => go('/threads') },
  { keys: 'g a', does: 'Agents', run: () => go('/agents') },
  { keys: 'g d', does: 'Dead letters', run: () => go('/dead') },
  { keys: 'g m', does: 'Metrics', run: () => go('/stats') },
  { keys: 'g w', does: 'Traffic', run: () => go('/traffic') },
  { keys: 'g p', does: 'Replay', run: () => go('/replay') },
  { keys: '?', does: 'Keyboard shortcuts', run: () => show('keys') },
]

export function show(what: 'palette' | 'keys' | null): void {
  overlay.value = what
}

function goBack(): void {
  document.querySelector<HTMLAnchorElement>('.pane-back')?.click()
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

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
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
    if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
    const pressed = first === '' ? event.key : `${first} ${event.key}`
    first = ''
    clearTimeout(timer)
    const key = keys.find((one) => one.keys === pressed)
    if (key !== undefined) {
      event.preventDefault()
      key.run()
    } else if (keys.some((one) => one.keys.startsWith(`${pressed} `))) {
      first = pressed
      timer = setTimeout(() => {
        first = ''
      }, chordMs)
    }
  })
}
