import './toast.css'
import { signal } from '@preact/signals'
import { ApiError } from '../data/api.ts'
import { sentence } from '../lib/text.ts'

interface ToastAction {
  name: string
  key?: string
  run: () => void
}

interface Toast {
  id: number
  text: string
  kind: 'info' | 'error'
  action?: ToastAction
}

interface ToastOptions {
  /** How long it is shown. @default 4 s; 10 s for errors */
  ms?: number
  action?: ToastAction
}

const toasts = signal<readonly Toast[]>([])
let last = 0

/** Shows a short message, which screen readers announce. Returns what removes it. */
export function showToast(
  text: string,
  kind: Toast['kind'] = 'info',
  options: ToastOptions = {},
): () => void {
  const { ms = kind === 'error' ? 10_000 : 4_000, action } = options
  const toast = { id: ++last, text, kind, ...(action && { action }) }
  const dismiss = () => {
    toasts.value = toasts.value.filter(({ id }) => id !== toast.id)
  }
  toasts.value = [...toasts.value.slice(-2), toast]
  setTimeout(dismiss, ms)
  return dismiss
}

export function showError(error: unknown): void {
  const hint = error instanceof ApiError && error.hint ? ` ${sentence(error.hint)}` : ''
  showToast(`${sentence(error instanceof Error ? error.message : String(error))}${hint}`, 'error')
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text, kind, action }) => (
      <div key={id} class={`toast ${kind}`}>
        <span>{text}</span>
        {action && (
          <button type="button" onClick={action.run}>
            {action.name}
            {action.key && <kbd>{action.key}</kbd>}
          </button>
        )}
      </div>
    ))}
  </div>
)
