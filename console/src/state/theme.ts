import { computed, signal } from '@preact/signals'

type Theme = 'system' | 'light' | 'dark'
const key = 'mailbox.theme'

const stored = localStorage.getItem(key)
export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system')

export function setTheme(next: Theme): void {
  theme.value = next
  if (next === 'system') localStorage.removeItem(key)
  else localStorage.setItem(key, next)
}

const system = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(system.matches)
system.addEventListener('change', () => {
  systemIsDark.value = system.matches
})
export const isDark = computed(
  () => theme.value === 'dark' || (theme.value === 'system' && systemIsDark.value),
)

theme.subscribe((value) => {
  if (value === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = value
})
