import type { TracedMessage } from '../data/types.ts'

type Step = TracedMessage['steps'][number]

/** What a message was between two of its steps, for the bar in the timeline. */
interface Phase {
  /** As shares of the whole time. */
  from: number
  to: number
  kind: 'waiting' | 'read' | 'working' | 'over'
}

export interface TimelineRow {
  message: TracedMessage
  phases: Phase[]
  steps: (Step & { share: number; sinceMs: number })[]
}

export interface Timeline {
  start: number
  end: number
  rows: TimelineRow[]
}

const kinds: Record<string, Phase['kind']> = {
  ...{ shown: 'read', claimed: 'read', acked: 'read', processing: 'working' },
  ...{
    completed: 'over',
    failed: 'over',
    archived: 'over',
    expired: 'over',
    dead: 'over',
    withdrawn: 'over',
  },
  ...{ released: 'waiting', retried: 'waiting', repeated: 'waiting', revived: 'waiting' },
}

/** Places messages and their steps on one axis of time. `openUntil`: it still goes on at this time. */
export function timelineOf(messages: readonly TracedMessage[], openUntil?: number): Timeline {
  const times = messages.flatMap(({ createdAt, steps }) => [createdAt, ...steps.map(({ at }) => at)])
  const all = times.map((time) => Date.parse(time))
  const start = Math.min(...all)
  // Never of no length, because everything is a share of it.
  const end = Math.max(...all, openUntil ?? 0, start + 1)
  const shareOf = (at: string): number => (Date.parse(at) - start) / (end - start)
  return {
    start,
    end,
    rows: messages.map((message) => {
      const sent = Date.parse(message.createdAt)
      const steps = message.steps.map((step) => ({
        ...{ ...step, share: shareOf(step.at), sinceMs: Date.parse(step.at) - sent },
      }))
      return { message, steps, phases: phasesOf(shareOf(message.createdAt), steps, openUntil === undefined) }
    }),
  }
}

/** The steps of several recipients overlap: the bar shows the furthest of them. */
function phasesOf(from: number, steps: TimelineRow['steps'], isOver: boolean): Phase[] {
  const phases: Phase[] = []
  let kind: Phase['kind'] = 'waiting'
  let at = from
  for (const { state, share } of steps) {
    const next = kinds[state]
    if (next === undefined || next === kind) continue
    phases.push({ from: at, to: share, kind })
    kind = next
    at = share
  }
  const last = steps.at(-1)?.share ?? from
  if (kind !== 'over') phases.push({ from: at, to: isOver ? last : 1, kind })
  return phases.filter((phase) => phase.to > phase.from)
}
