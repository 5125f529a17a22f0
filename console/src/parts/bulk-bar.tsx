import './bulk-bar.css'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { onIntents } from '../keys/intents.ts'
import { listItems } from '../keys/list-moves.ts'
import { plural } from '../lib/text.ts'
import { clearSelection, select, selection, toggleSelected } from '../state/selection.ts'

/** Lets `s` select the current item of a list, `S` all of them, and Escape none. */
export function useSelecting(keys: readonly string[]): void {
  useLayoutEffect(() => {
    return onIntents({
      select: () => {
        const key = keys[Math.max(0, listItems.peek().current)]
        if (key !== undefined) toggleSelected(key)
      },
      selectAll: () => select(selection.peek().size === keys.length ? [] : keys),
    })
  }, [keys])
  const isSelecting = selection.value.size > 0
  useLayoutEffect(() => (isSelecting ? onIntents({ leave: clearSelection }) : undefined), [isSelecting])
  // A selection belongs to its list.
  useLayoutEffect(() => clearSelection, [])
}

/** What can be done with the selected items, above the list. */
export function BulkBar({ children }: { children: ComponentChildren }) {
  const { size } = selection.value
  if (size === 0) return null
  return (
    <div class="bulk" role="toolbar" aria-label="Selected items">
      <span class="number">{plural(size, 'selected', 'selected')}</span>
      {children}
      <button type="button" class="button plain small" onClick={clearSelection}>
        Clear
      </button>
    </div>
  )
}
