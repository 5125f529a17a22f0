import { useEffect, useRef } from 'preact/hooks'

const takingOver = ['wheel', 'pointerdown', 'touchmove', 'keydown']

/**
 * Keeps the target message in view while messages are rendered, until the person scrolls. After that, the view
 * follows new messages only if it is at the end.
 */
export function usePlace(scroller: { current: HTMLDivElement | null }, aim: string, count: number): void {
  const first = useRef(aim)
  const state = useRef({ isTaken: false, isAtEnd: false })
  useEffect(() => {
    const box = scroller.current
    if (box === null) return
    const settle = () => {
      if (!state.current.isTaken) document.getElementById(first.current)?.scrollIntoView({ block: 'start' })
      // The reply field takes space at the bottom.
      else if (state.current.isAtEnd) box.scrollTop = box.scrollHeight
    }
    const take = () => {
      state.current.isTaken = true
    }
    const look = () => {
      state.current.isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 48
    }
    const sizes = new ResizeObserver(settle)
    sizes.observe(box)
    for (const child of box.children) sizes.observe(child)
    for (const event of takingOver) box.addEventListener(event, take, { passive: true })
    box.addEventListener('scroll', look, { passive: true })
    return () => {
      sizes.disconnect()
      for (const event of takingOver) box.removeEventListener(event, take)
      box.removeEventListener('scroll', look)
    }
  }, [scroller])
  const known = useRef(count)
  useEffect(() => {
    const box = scroller.current
    if (count > known.current && state.current.isAtEnd && box !== null) box.scrollTop = box.scrollHeight
    known.current = count
  }, [scroller, count])
}
