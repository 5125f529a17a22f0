import type { Agent } from '../../model/agent.ts'
import type { Settings } from '../../model/settings.ts'

/** How long an agent may be silent before it is taken for dead, where nobody can see its process; 0: as long as it likes. */
export const patienceWith = ({ session }: Agent, { silentAfterMs, heartbeatMs }: Settings): number =>
  session.pid === undefined ? silentAfterMs : heartbeatMs
