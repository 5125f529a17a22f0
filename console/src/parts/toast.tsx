import './toast.css'
import { signal } from '@preact/signals'
import { ApiError } from '../data/api.ts'
import { sentence } from '../lib/text.ts'

interface Toast {
  id: number
  text: string
  kind: 'info' | 'error'
}

const toasts = signal<readonly Toast[]>([])
let last = 0

/** Shows a short message, which screen readers announce. */
export function showToast(text: string, kind: Toast['kind'] = 'info'): void {
  const toast = { id: ++last, text, kind }
  toasts.value = [...toasts.value.slice(-2), toast]
  setTimeout(
    () => {
      toasts.value = toasts.value.filter(({ id }) => id !== toast.id)
    },
    kind === 'error' ? 10_000 : 4_000,
  )
}

export function showError(error: unknown): void {
  const hint = error instanceof ApiError && error.hint ? ` ${sentence(error.hint)}` : ''
  showToast(`${sentence(error instanceof Error ? error.message : String(error))}${hint}`, 'error')
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
