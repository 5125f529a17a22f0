/**
 * Whether what processes were told about their claims on one message can be true: is there an order of the calls,
 * each at some moment between its call and its answer, in which every answer is right? That is linearizability,
 * looked for as Wing and Gong do: try each call that may come next, go back when none fits, and remember what
 * was tried. Messages do not depend on one another, so each is a search of its own.
 *
 * The model says what is right, and takes nothing from src. Time is in it as what must not happen: a claim is
 * never over before its lease, unless a process of its agent was killed. When it is really over is left open.
 */
export interface Call {
  process: string
  agent: string
  does: 'claim' | 'renew' | 'start' | 'done' | 'fail' | 'release'
  /** The newest claim on the message that this process has made, as far as it knows. */
  acting: number | undefined
  leaseMs: number
  calledAt: number
  /** Infinity when its process was killed first. */
  answeredAt: number
  /** The number of the claim that it acted with, if it was told; undefined when there was no answer. */
  answer: { ok: true; number: number | undefined } | { ok: false } | undefined
}

/** From the kill of a process until its successor is ready, what its agent holds may become free at any time. */
export interface Death {
  agent: string
  from: number
  to: number
}

export interface History {
  calls: readonly Call[]
  deaths: readonly Death[]
}

interface State {
  is: 'free' | 'held' | 'failed' | 'done'
  /** Who holds it, has failed or finished it. */
  agent: string
  /** The newest claim of all, and of each agent. */
  newest: number
  own: Readonly<Record<string, number>>
  /** Not before these times: it was claimed, and the claim is over. */
  since: number
  endsFrom: number
}

/** Clocks of different processes agree as well as that. */
const marginMs = 50

const unclaimed: State = { is: 'free', agent: '', newest: 0, own: {}, since: 0, endsFrom: 0 }

export interface Verdict {
  /** The longest order that fits, if there is none for all of them. */
  violation?: { fitted: Call[]; stuck: Call[] }
  /** How many states were looked at. */
  steps: number
}

export function checkHistory({ calls, deaths }: History): Verdict {
  const sorted = [...calls].sort((a, b) => a.calledAt - b.calledAt)
  const tried = new Set<string>()
  let steps = 0
  let best: Call[] = []

  function search(left: readonly Call[], state: State, order: Call[]): boolean {
    if (left.every(({ answer }) => answer === undefined)) return true
    const key = `${left.map((call) => sorted.indexOf(call)).join(' ')}|${JSON.stringify(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    steps++
    if (order.length > best.length) best = order
    // A call that was made after another was answered cannot come before it.
    const firstAnswer = Math.min(...left.map(({ answeredAt }) => answeredAt))
    for (const call of left) {
      if (call.calledAt > firstAnswer) break
      const rest = left.filter((one) => one !== call)
      for (const next of outcomes(state, call, deaths)) if (search(rest, next, [...order, call])) return true
    }
    return false
  }

  if (search(sorted, unclaimed, [])) return { steps }
  return { violation: { fitted: best, stuck: sorted.filter((call) => !best.includes(call)) }, steps }
}

/** Every state in which a call may leave the message, given its answer. */
function outcomes(state: State, call: Call, deaths: readonly Death[]): State[] {
  const before = mayBeOver(state, call, deaths)
    ? [state, { ...state, is: 'free', agent: '' } as const]
    : [state]
  return before.flatMap((from) => {
    const { ok, next: to, number } = perform(from, call)
    const { answer } = call
    if (answer !== undefined && answer.ok !== ok) return []
    // A claim that is over stays as it is until somebody takes the message: a process whose clock is wrong may still
    // be refused because of it.
    const next = to === undefined || to === from ? state : to
    const told = answer?.ok ? answer.number : undefined
    if (number === 'new') {
      if (told !== undefined && told <= from.newest) return []
      // What nobody was told has some number between those that were.
      const made = told ?? from.newest + 1e-6
      return [{ ...next, newest: made, own: { ...from.own, [call.agent]: made } }]
    }
    if (told === undefined || number === undefined || told === number) return [next]
    // The number of a claim whose process was killed before it was told comes out when a namesake goes on with it.
    return isUnknown(number) && told > number ? [withNumber(next, told)] : []
  })
}

const isUnknown = (number: number): boolean => !Number.isInteger(number)

const withNumber = (state: State, number: number): State => ({
  ...state,
  newest: number,
  own: Object.fromEntries(
    Object.entries(state.own).map(([agent, own]) => [agent, own === state.newest ? number : own]),
  ),
})

function mayBeOver({ is, agent, since, endsFrom }: State, { answeredAt }: Call, deaths: readonly Death[]) {
  if (is !== 'held' && is !== 'failed') return false
  const isOverdue = is === 'held' && answeredAt + marginMs >= endsFrom
  return isOverdue || deaths.some((one) => one.agent === agent && one.from <= answeredAt && one.to >= since)
}

interface Performed {
  ok: boolean
  next?: State
  /** The claim that it was done with; undefined when any will do. */
  number?: number | 'new' | undefined
}

const refused: Performed = { ok: false }

/** The rules. */
function perform(state: State, call: Call): Performed {
  const { does, agent, calledAt, leaseMs } = call
  const { is, newest } = state
  const isOwn = state.agent === agent
  const acting = call.acting ?? (does === 'claim' ? 0 : (state.own[agent] ?? Number.POSITIVE_INFINITY))
  const isPast = newest > acting
  const lease = { since: calledAt, endsFrom: calledAt + leaseMs }
  const take = (to: State['is']): Performed => ({
    ok: true,
    next: { ...state, is: to, agent, ...lease },
    number: 'new',
  })
  const move = (to: State['is']): Performed => ({
    ok: true,
    next: { ...state, is: to, agent },
    number: newest,
  })
  const stay: Performed = { ok: true, next: state, number: newest }
  switch (does) {
    case 'claim':
    case 'renew':
      if (does === 'renew' && isPast) return refused
      if (is === 'free') return take('held')
      return is === 'held' && isOwn && !isPast ? { ...stay, next: { ...state, ...lease } } : refused
    case 'start':
      if (is === 'free') return take('held')
      if (!isOwn || isPast || is === 'done') return refused
      return is === 'failed' ? take('held') : stay
    case 'done':
      if (isPast) return refused
      if (is === 'free') return take('done')
      return isOwn ? move('done') : refused
    case 'fail':
      if (isPast || is === 'done') return refused
      if (is === 'free') return take('failed')
      return isOwn ? move('failed') : refused
    case 'release':
      if (isPast || is === 'done') return refused
      if (is === 'free') return { ok: true, next: state }
      return isOwn ? { ok: true, next: { ...state, is: 'free', agent: '' }, number: newest } : refused
  }
}
