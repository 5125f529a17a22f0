import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { connection } from '../data/connection.ts'
import { Part } from '../data/part.ts'
import { Loading } from './small.tsx'

/** A component whose code is loaded separately. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const part = new Part(load)
  return function Lazy(props: P) {
    useEffect(() => void part.want(), [])
    const Component = part.code.value
    if (Component !== undefined) return <Component {...props} />
    if (part.failure.value === 'stuck') return <Stuck />
    if (connection.value === 'reconnecting') return <Loading note="Waiting for the hub…" />
    return <Loading {...(part.failure.value === 'reloading' && { note: 'Reloading…' })} />
  }
}

const Stuck = () => (
  <div class="problem" role="alert">
    This part of the console could not be loaded.
    <div class="quiet">If the hub was upgraded, reload the page.</div>
    <button type="button" class="button" onClick={() => location.reload()}>
      Reload
    </button>
  </div>
)
