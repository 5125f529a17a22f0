import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from './small.tsx'

/** A component that is loaded when it is first shown. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [, redraw] = useState(0)
    useEffect(() => {
      if (loaded !== undefined) return
      let isHere = true
      void load().then((component) => {
        loaded = component
        if (isHere) redraw(1)
      })
      return () => {
        isHere = false
      }
    }, [])
    const Component = loaded
    return Component === undefined ? <Loading /> : <Component {...props} />
  }
}
