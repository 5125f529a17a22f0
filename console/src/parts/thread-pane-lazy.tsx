import { lazy } from './lazy.tsx'

/** The thread pane, loaded after the list beside it. */
export const ThreadPane = lazy(async () => (await import('./thread-pane.tsx')).ThreadPane)
