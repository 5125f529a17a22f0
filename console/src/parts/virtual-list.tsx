import './virtual-list.css'
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'

export interface VirtualListProps<T> {
  label: string
  items: readonly T[]
  rowHeight: number
  /** For rows of another height. It must not change while a row has the same key. */
  heightOf?: (item: T) => number
  keyOf: (item: T) => string
  row: (item: T) => ComponentChildren
  /** Scrolled into view when it changes. */
  selected?: number
  /** Called when the end is near. */
  onNearEnd?: () => void
  end?: string | undefined
}

const nearEndRows = 20

/** A list that renders only its visible rows. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, rowHeight, heightOf = () => rowHeight, keyOf, selected = -1, onNearEnd } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [, redraw] = useReducer<number, void>((n) => n + 1, 0)
  const options = {
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index: number) => heightOf(items[index]!),
    getItemKey: (index: number) => keyOf(items[index]!),
    overscan: 8,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, HTMLLIElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  useEffect(() => {
    if (selected >= 0) virtualizer.scrollToIndex(selected, { align: 'auto' })
  }, [virtualizer, selected])

  const rows = virtualizer.getVirtualItems()
  const lastRow = rows.at(-1)?.index ?? -1
  useEffect(() => {
    if (lastRow >= items.length - nearEndRows) onNearEnd?.()
  }, [lastRow, items.length, onNearEnd])

  return (
    <div class="list" ref={scroller}>
      <ul class="list-room" aria-label={props.label} style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {rows.map(({ key, index, start, size }) => (
          <li
            key={key}
            aria-setsize={items.length}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start}px)`, height: `${size}px` }}
          >
            {props.row(items[index]!)}
          </li>
        ))}
      </ul>
      {props.end && <p class="list-end">{props.end}</p>}
    </div>
  )
}
