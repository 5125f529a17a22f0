import { effect, signal } from '@preact/signals'
import { titleOf } from '../../../src/conversation/words.ts'
import { onEntries } from '../data/live.ts'
import type { NeedsYouItem } from '../data/types.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { line, plural, subjectOf } from '../lib/text.ts'
import { showToast } from '../parts/toast.tsx'
import { isForPerson, needsYou } from './matters.ts'

const key = 'mailbox.notify'
const canNotify = (): boolean => 'Notification' in window && Notification.permission === 'granted'

/** Whether to show desktop notifications for what needs the person. Off by default. */
export const notifies = signal(localStorage.getItem(key) === 'yes' && canNotify())
/** New mail as text for screen readers. */
export const announcement = signal('')

export async function toggleNotify(): Promise<void> {
  if (!notifies.value && 'Notification' in window) await Notification.requestPermission()
  const isRefused = !notifies.value && !canNotify()
  notifies.value = !notifies.value && canNotify()
  if (isRefused) showToast('The browser blocked notifications')
  localStorage.setItem(key, notifies.value ? 'yes' : 'no')
}

function notify({ message }: NeedsYouItem): void {
  const note = new Notification(`${line(message.from)}: ${subjectOf(titleOf(message))}`, {
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
    const items = needsYou.data.value?.filter(isForPerson)
    if (items === undefined) return
    const before = known
    known = new Set(items.map(({ message }) => message.id))
    const fresh = before === undefined ? [] : items.filter(({ message }) => !before.has(message.id))
    if (fresh.length > 0)
      announcement.value = `${plural(fresh.length, 'new item needs you', 'new items need you')}: ${subjectOf(titleOf(fresh[0]!.message))}`
    // Not while the person is looking at the page.
    if (notifies.peek() && canNotify() && document.visibilityState === 'hidden')
      for (const item of fresh.slice(0, 3)) notify(item)
  })
  announceMail()
}

/** Announces mail in batches, because a busy space would otherwise never stop talking. */
function announceMail(): void {
  let count = 0
  let last = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  onEntries((entries) => {
    for (const entry of entries) {
      if (entry.kind !== 'message' || entry.originalAt !== undefined) continue
      count++
      last = `from ${line(entry.message.from)}: ${subjectOf(titleOf(entry.message))}`
    }
    if (count === 0 || timer !== undefined) return
    timer = setTimeout(() => {
      announcement.value = count === 1 ? `New message ${last}` : `${count} new messages, latest ${last}`
      count = 0
      timer = undefined
    }, pauseMs)
  })
}
