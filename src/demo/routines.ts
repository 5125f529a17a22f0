import type { MockAgent } from './mock-agent.ts'
import { askForStatus, assign, chatter, decision, incident } from './scenes.ts'

/** What an agent with a role does regularly, unprompted. */
export const routines: Readonly<Record<string, (me: MockAgent) => void>> = {
  lead: (me) => {
    me.every([22, 40], () => assign(me))
    me.every([55, 95], () => askForStatus(me))
  },
  architect: (me) => me.every([50, 120], () => decision(me)),
  oncall: (me) => me.every([400, 800], () => incident(me)),
  worker: (me) => me.every([90, 220], () => chatter(me)),
}
