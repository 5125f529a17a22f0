import { signal } from '@preact/signals'
import { navigate } from 'wouter-preact/use-browser-location'

/** Where the person came from decides where the focus goes: keys that leaf through a list keep theirs. */
export const leafing = signal(false)

export interface GoOptions {
  replace?: boolean
  leaf?: boolean
}

export function go(to: string, { replace = false, leaf = false }: GoOptions = {}): void {
  leafing.value = leaf
  if (to !== location.pathname + location.search) navigate(to, { replace })
}

/** Links inside the console change the page without loading it anew. */
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
