import type { LagFigures } from '../../bridges/lag.ts'
import type { Tally } from '../../bridges/parts.ts'
import type { Runner } from '../../bridges/remembered.ts'
import { count } from '../progress.ts'

export function describeTally(
  { brought, written, statesIn, statesOut, agents, problems }: Tally,
  dry: boolean,
): string {
  const would = dry ? 'would be ' : ''
  const left = problems === 0 ? '' : `, ${problems} left where ${problems === 1 ? 'it is' : 'they are'}`
  const many = (n: number, what: string) => `${count(n)} ${what}${n === 1 ? '' : 's'} ${would}`
  return `${many(brought, 'message')}brought here, ${count(written)} ${would}written there, ${many(statesIn + statesOut, 'state')}passed on, ${many(agents, 'agent')}added${left}`
}

/** What runs a bridge, such as `mailbox mcp (process 17)`. */
export const describeRunner = ({ where, process, silentForMs }: Runner): string =>
  `${where} (process ${process}${silentForMs === undefined ? '' : `, silent for ${Math.round(silentForMs / 1_000)} s`})`

export function describeLag({ inMs, outMs }: LagFigures): string {
  const ways = [inMs === undefined ? '' : `${inMs} ms in`, outMs === undefined ? '' : `${outMs} ms out`]
  return ways.filter(Boolean).join(', ')
}
