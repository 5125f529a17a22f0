import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../data/api.ts'
import { connection } from '../data/live.ts'
import { Loading, Problem } from './small.tsx'

const missing = new ApiError(
  'unreachable',
  'a part of this page could not be loaded',
  'it is tried again when the hub is back; if the hub was upgraded meanwhile, reload the page',
)

/** A component that is loaded when it is first shown. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [isMissing, setMissing] = useState(false)
    const [, redraw] = useState(0)
    useEffect(() => {
      let isHere = true
      const attempt = async () => {
        if (loaded !== undefined) return
        try {
          loaded = await load()
          if (isHere) redraw(1)
        } catch {
          if (isHere) setMissing(true)
        }
      }
      // At once, and again whenever the hub goes or comes back.
      const stop = connection.subscribe(() => void attempt())
      return () => {
        isHere = false
        stop()
      }
    }, [])
    const Component = loaded
    if (Component !== undefined) return <Component {...props} />
    return isMissing ? <Problem error={missing} /> : <Loading />
  }
}
