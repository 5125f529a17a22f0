import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The width of an element. Charts draw in pixels, so that their text keeps its size. */
export function useWidth<T extends HTMLElement>(first: number) {
  const ref = useRef<T>(null)
  const [width, setWidth] = useState(first)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const measure = () => setWidth(Math.max(1, Math.floor(element.clientWidth)))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}
