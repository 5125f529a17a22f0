import { get } from '../data/api.ts'
import { type Resource, useResource } from '../data/resource.ts'
import type { Digest } from '../data/types.ts'
import { plural } from '../lib/text.ts'

/** What happened since a time: `24h`, or a date. */
export const useDigest = (since: string): Resource<Digest> =>
  useResource(`digest ${since}`, () => ({
    restMs: 5_000,
    load: (_: Digest | undefined, signal: AbortSignal) => get<Digest>('/api/digest', { since }, signal),
    apply: (data: Digest, entries) => ({
      data,
      stale: entries.some(({ kind }) => kind === 'message' || kind === 'receipt' || kind === 'agent'),
    }),
  }))

/** The figures of a digest in words, the gravest first. */
export function digestFigures({ totals }: Digest): string[] {
  const { died, lost, blocked, decided, finished, failed, messages } = totals
  return [
    ...(died > 0 ? [`${plural(died, 'agent')} died`] : []),
    ...(lost > 0 ? [`${lost} not delivered`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(decided > 0 ? [`${decided} decided`] : []),
    ...(finished > 0 ? [`${finished} finished`] : []),
    ...(messages > 0 ? [plural(messages, 'message')] : []),
  ]
}
