/** What a key does depends on the page: whatever is on it registers a handler while it is shown. */
export type Intent =
  | 'reply'
  | 'finish'
  | 'approve'
  | 'reject'
  | 'snooze'
  | 'select'
  | 'selectAll'
  | 'triage'
  | 'leave'
  | 'next'
  | 'previous'
  | `pick ${number}`

type Handler = () => void
const handlers = new Map<Intent, Handler[]>()

/** The handler that was registered last wins, until it is removed. */
export function onIntent(intent: Intent, handler: Handler): () => void {
  handlers.set(intent, [...(handlers.get(intent) ?? []), handler])
  return () => {
    handlers.set(
      intent,
      (handlers.get(intent) ?? []).filter((one) => one !== handler),
    )
  }
}

/** Registers several at once, for a layout effect: a key that is pressed right after the page has changed must not be lost. */
export function onIntents(all: Partial<Record<Intent, Handler>>): () => void {
  const stops = (Object.entries(all) as [Intent, Handler][]).map(([intent, handler]) =>
    onIntent(intent, handler),
  )
  return () => {
    for (const stop of stops) stop()
  }
}

export const hasIntent = (intent: Intent): boolean => (handlers.get(intent)?.length ?? 0) > 0

/** Returns whether anything on the page wanted it. */
export function runIntent(intent: Intent): boolean {
  const handler = handlers.get(intent)?.at(-1)
  handler?.()
  return handler !== undefined
}
