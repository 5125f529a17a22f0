import { effect, signal } from '@preact/signals'
import { titleOf } from '../../../src/conversation/words.ts'
import { onEntries } from '../data/live.ts'
import type { NeedsYouItem } from '../data/types.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { line, plural, subjectOf } from '../lib/text.ts'
import { showToast } from '../parts/toast.tsx'
import { isForPerson, needsYou } from './matters.ts'
import { views } from './views.ts'

const key = 'mailbox.notify'
const canNotify = (): boolean => 'Notification' in window && Notification.permission === 'granted'

/** Whether to show desktop notifications for what needs the person. Off by default. */
export const notifies = signal(localStorage.getItem(key) === 'yes' && canNotify())
/** New mail as text for screen readers. */
export const announcement = signal('')

export async function toggleNotify(): Promise<void> {
  notifies.value = !notifies.value && (await mayNotify())
  localStorage.setItem(key, notifies.value ? 'yes' : 'no')
}

const viewsKey = 'mailbox.notify.views'
/** The saved searches whose new mail is shown as well. */
export const notifiedViews = signal<readonly string[]>(readNames())

function readNames(): string[] {
  const names = (localStorage.getItem(viewsKey) ?? '').split(' ')
  return canNotify() ? names.filter(Boolean) : []
}

export async function toggleViewNotify(name: string): Promise<void> {
  const others = notifiedViews.value.filter((one) => one !== name)
  const isOn = others.length === notifiedViews.value.length && (await mayNotify())
  notifiedViews.value = isOn ? [...others, name] : others
  // A name is one word.
  localStorage.setItem(viewsKey, notifiedViews.value.join(' '))
}

async function mayNotify(): Promise<boolean> {
  if ('Notification' in window) await Notification.requestPermission()
  if (!canNotify()) showToast('The browser blocked notifications')
  return canNotify()
}

/** Not while the person is looking at the page. */
const isAway = (): boolean => canNotify() && document.visibilityState === 'hidden'

function notify(title: string, { body = '', tag, href }: { body?: string; tag: string; href: string }): void {
  const note = new Notification(title, { body, tag })
  note.onclick = () => {
    window.focus()
    go(href)
    note.close()
  }
}

const notifyOf = ({ message }: NeedsYouItem): void =>
  notify(`${line(message.from)}: ${subjectOf(titleOf(message))}`, {
    ...{ body: line(message.body).slice(0, 160), tag: message.id, href: path('needs-you', message.id) },
  })

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
    if (notifies.peek() && isAway()) for (const item of fresh.slice(0, 3)) notifyOf(item)
  })
  notifyOfViews()
  announceMail()
}

/** Says of a saved search that it finds more than before. */
function notifyOfViews(): void {
  let known = new Map<string, number>()
  effect(() => {
    const saved = views.data.value
    if (saved === undefined) return
    const before = known
    known = new Map(saved.map(({ query, total }) => [query, total]))
    for (const { name, query, total } of saved) {
      const more = total - (before.get(query) ?? total)
      if (more > 0 && notifiedViews.peek().includes(name) && isAway())
        notify(`${line(name)}: ${plural(more, 'new message')}`, {
          ...{ tag: `view ${name}`, href: `/search?q=${encodeURIComponent(query)}` },
        })
    }
  })
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
