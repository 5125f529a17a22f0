import { effect, signal } from '@preact/signals'
import { onEntries } from '../data/live.ts'
import type { NeedsYouItem } from '../data/types.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { line, plural, subjectOf } from '../lib/text.ts'
import { needsYou } from './matters.ts'

const key = 'mailbox.notify'
const canNotify = (): boolean => 'Notification' in window && Notification.permission === 'granted'

/** Whether the person wants to be told by the desktop of what needs it. Off until asked for. */
export const notifies = signal(localStorage.getItem(key) === 'yes' && canNotify())
/** New mail in words, for those who do not see the page change. */
export const announcement = signal('')

export async function toggleNotify(): Promise<void> {
  if (!notifies.value && 'Notification' in window) await Notification.requestPermission()
  notifies.value = !notifies.value && canNotify()
  localStorage.setItem(key, notifies.value ? 'yes' : 'no')
}

function tell({ message }: NeedsYouItem): void {
  const note = new Notification(`${line(message.from)}: ${subjectOf(message.subject)}`, {
    body: line(message.body).slice(0, 160),
    tag: message.id,
  })
  note.onclick = () => {
    window.focus()
    go(path('needs-you', message.id))
    note.close()
  }
}

const pauseMs = 1_500

export function startNotifying(): void {
  let known: Set<string> | undefined
  effect(() => {
    const items = needsYou.data.value
    if (items === undefined) return
    const before = known
    known = new Set(items.map(({ message }) => message.id))
    const fresh = before === undefined ? [] : items.filter(({ message }) => !before.has(message.id))
    if (fresh.length > 0)
      announcement.value = `${plural(fresh.length, 'thing')} more need you: ${subjectOf(fresh[0]!.message.subject)}`
    // Whoever has the page before its eyes sees it there.
    if (notifies.peek() && canNotify() && document.visibilityState === 'hidden')
      for (const item of fresh.slice(0, 3)) tell(item)
  })
  announceMail()
}

/** Mail is announced in portions: a busy space would talk without end. */
function announceMail(): void {
  let count = 0
  let last = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  onEntries((entries) => {
    for (const entry of entries) {
      if (entry.kind !== 'message') continue
      count++
      last = `from ${line(entry.message.from)}: ${subjectOf(entry.message.subject)}`
    }
    if (count === 0 || timer !== undefined) return
    timer = setTimeout(() => {
      announcement.value = count === 1 ? `New message ${last}` : `${count} new messages, the last ${last}`
      count = 0
      timer = undefined
    }, pauseMs)
  })
}
