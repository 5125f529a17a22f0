import { signal } from '@preact/signals'

/** The items that are selected in the list on the page, by their keys. */
export const selection = signal<ReadonlySet<string>>(new Set())

export function toggleSelected(key: string): void {
  const next = new Set(selection.value)
  if (!next.delete(key)) next.add(key)
  selection.value = next
}

export function select(keys: readonly string[]): void {
  selection.value = new Set(keys)
}

export function clearSelection(): void {
  if (selection.peek().size > 0) selection.value = new Set()
}
