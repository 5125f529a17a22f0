import './virtual-list.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { rangeIn, startsOf } from '../lib/visible-rows.ts'

export interface VirtualListProps<T> {
  label: string
  items: readonly T[]
  rowHeight: number
  /** For rows of another height. */
  heightOf?: (item: T) => number
  keyOf: (item: T) => string
  row: (item: T) => ComponentChildren
  /** Scrolled into view when it changes. */
  selected?: number
  /** Newer items are on their way. */
  isBusy?: boolean
  /** Called when the end is near. */
  onNearEnd?: () => void
  end?: string | undefined
}

const nearEndRows = 20
/** Rows beyond the edge, so that scrolling shows no gap. */
const overscan = 8

/** A list that renders only its visible rows. Their heights are known, so nothing has to be measured. */
export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, rowHeight, heightOf, keyOf, selected = -1, onNearEnd } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 0 })
  const starts = useMemo(
    () => startsOf(items.map((item) => heightOf?.(item) ?? rowHeight)),
    [items, rowHeight, heightOf],
  )
  useLayoutEffect(() => {
    const box = scroller.current!
    const look = () => setView({ top: box.scrollTop, height: box.clientHeight })
    const sizes = new ResizeObserver(look)
    sizes.observe(box)
    box.addEventListener('scroll', look, { passive: true })
    look()
    return () => {
      sizes.disconnect()
      box.removeEventListener('scroll', look)
    }
  }, [])
  useLayoutEffect(() => {
    const box = scroller.current!
    if (selected < 0 || selected >= items.length) return
    const [start, end] = [starts[selected]!, starts[selected + 1]!]
    if (start < box.scrollTop) box.scrollTop = start
    else if (end > box.scrollTop + box.clientHeight) box.scrollTop = end - box.clientHeight
  }, [selected])

  const [first, last] = rangeIn(starts, view.top, view.height, overscan)
  useEffect(() => {
    if (last >= items.length - nearEndRows) onNearEnd?.()
  }, [last, items.length, onNearEnd])

  return (
    <div class="list" ref={scroller}>
      <ul
        class="list-room"
        aria-label={props.label}
        aria-busy={props.isBusy ?? false}
        style={{ height: `${starts.at(-1)}px` }}
      >
        {items.slice(first, last).map((item, n) => (
          <li
            key={keyOf(item)}
            aria-setsize={items.length}
            aria-posinset={first + n + 1}
            style={{
              transform: `translateY(${starts[first + n]}px)`,
              height: `${starts[first + n + 1]! - starts[first + n]!}px`,
            }}
          >
            {props.row(item)}
          </li>
        ))}
      </ul>
      {props.end && <p class="list-end">{props.end}</p>}
    </div>
  )
}
