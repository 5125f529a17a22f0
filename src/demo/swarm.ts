import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LocalSpace } from '../mod.ts'
import { openDisk } from '../space/open.ts'
import { writeSetting } from '../space/settings.ts'
import type { DiskSpace } from '../space/space.ts'
import { beginDay } from './day.ts'
import { KillableProcess } from './killable-process.ts'
import { MockAgent } from './mock-agent.ts'
import { createRandom } from './random.ts'
import { roleBehaviours } from './roles.ts'
import { routines } from './routines.ts'
import { Schedule } from './schedule.ts'
import { createDemoState } from './state.ts'
import { teamOf } from './team.ts'

export interface DemoOptions {
  /** 1 to 20. */
  speed: number
  seed: number
  agents: number
  /** Length of a day in demo time. @default 7_200: two hours at 1x, 24 minutes at 5x, six at 20x */
  daySeconds?: number
}

/** A new space in the system's directory for temporary files; the demo writes nowhere else. */
export async function openDemoSpace(): Promise<DiskSpace> {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-demo-'))
  // A demo need not survive a power loss, and its work may wait long for the person.
  writeSetting(dir, 'durability', 'os')
  writeSetting(dir, 'claimTtlMs', 12 * 3_600_000)
  return openDisk({ dir })
}

export const removeDemoSpace = ({ dir }: LocalSpace): void =>
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })

/** Runs a team of mock agents in a space until the signal stops it. */
export async function playDemo(space: LocalSpace, options: DemoOptions, signal: AbortSignal): Promise<void> {
  const schedule = new Schedule(options.speed)
  const { seed, agents, daySeconds = 7_200 } = options
  const demo = createDemoState({ space, schedule, daySeconds, random: createRandom(seed) })
  const team = teamOf(agents)
  const killable = new KillableProcess(team.findLast(({ roles }) => roles.includes('worker'))?.name ?? '')
  for (const member of team) {
    const role = member.roles[0] ?? ''
    const agent = new MockAgent({
      ...{ member, demo, behaviours: roleBehaviours[role] ?? {}, routines: routines[role] ?? (() => {}) },
      pid: () => killable.pidFor(member.name),
    })
    demo.agents.set(member.name, agent)
  }
  try {
    await beginDay(demo, killable)
    await schedule.run(signal)
  } finally {
    await killable.kill()
  }
}
