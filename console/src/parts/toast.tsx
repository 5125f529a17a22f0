import './toast.css'
import { signal } from '@preact/signals'
import { ApiError } from '../data/api.ts'

interface Toast {
  id: number
  text: string
  kind: 'word' | 'bad'
}

const toasts = signal<readonly Toast[]>([])
let last = 0

/** A short word on what was done, for eyes and for screen readers. */
export function say(text: string, kind: Toast['kind'] = 'word'): void {
  const toast = { id: ++last, text, kind }
  toasts.value = [...toasts.value.slice(-2), toast]
  setTimeout(
    () => {
      toasts.value = toasts.value.filter(({ id }) => id !== toast.id)
    },
    kind === 'bad' ? 10_000 : 4_000,
  )
}

export function complain(error: unknown): void {
  const hint = error instanceof ApiError && error.hint ? ` ${error.hint}` : ''
  say(`${error instanceof Error ? error.message : String(error)}.${hint}`, 'bad')
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, kind }) => (
      <div key={id} class={`toast ${kind}`}>
        {text}
      </div>
    ))}
  </div>
)
