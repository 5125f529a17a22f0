import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
const key = 'mailbox.theme'

const stored = localStorage.getItem(key)
export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system')

export function setTheme(next: Theme): void {
  theme.value = next
  if (next === 'system') localStorage.removeItem(key)
  else localStorage.setItem(key, next)
}

theme.subscribe((value) => {
  if (value === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = value
})
