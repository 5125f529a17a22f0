import { signal } from '@preact/signals'
import { navigate } from 'wouter-preact/use-browser-location'

/** Whether the last navigation was a move in a list, which keeps the focus where it is. */
export const isListMove = signal(false)

export interface GoOptions {
  replace?: boolean
  /** Keeps the focus in the list. */
  isListMove?: boolean
}

export function go(to: string, options: GoOptions = {}): void {
  const { replace = false } = options
  isListMove.value = options.isListMove ?? false
  if (to !== location.pathname + location.search) navigate(to, { replace })
}

/** Makes links within the console navigate without reloading the page. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest?.('a')
    const href = link?.getAttribute('href')
    if (link == null || href == null || !href.startsWith('/') || link.target !== '') return
    event.preventDefault()
    go(href)
  })
}
