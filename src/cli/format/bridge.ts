import type { Problem } from '../../bridges/bridge.ts'
import type { Tally } from '../../bridges/parts.ts'

export const describeProblem = ({ place, line, reason }: Problem): string =>
  `${place}${line === undefined ? '' : `, line ${line}`}: ${reason}`

export function describeTally(
  { brought, written, statesIn, statesOut, agents, problems }: Tally,
  dry: boolean,
): string {
  const would = dry ? 'would be ' : ''
  const left = problems === 0 ? '' : `, ${problems} left where they are`
  return `${brought} messages ${would}brought here, ${written} ${would}written there, ${statesIn + statesOut} states ${would}passed on, ${agents} agents ${would}added${left}`
}
