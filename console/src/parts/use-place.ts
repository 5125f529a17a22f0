import { useEffect, useRef } from 'preact/hooks'

const takingOver = ['wheel', 'pointerdown', 'touchmove', 'keydown']

/**
 * Keeps the meant message in sight while letters take their shape, until the person takes over. After that,
 * whoever reads the end sees new mail move in, and whoever reads further up is left in peace.
 */
export function usePlace(scroller: { current: HTMLDivElement | null }, aim: string, count: number): void {
  const first = useRef(aim)
  const state = useRef({ isTaken: false, isAtEnd: false })
  useEffect(() => {
    const box = scroller.current
    if (box === null) return
    const settle = () => {
      if (!state.current.isTaken) document.getElementById(first.current)?.scrollIntoView({ block: 'start' })
    }
    const take = () => {
      state.current.isTaken = true
    }
    const look = () => {
      state.current.isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 48
    }
    const settleAll = () => {
      settle()
      // The field for an answer takes room from below.
      if (state.current.isAtEnd) box.scrollTop = box.scrollHeight
    }
    const sizes = new ResizeObserver(settleAll)
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
