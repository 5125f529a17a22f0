import { rmSync } from 'node:fs'
import type { LocalSpace } from '../mod.ts'
import { openDisk } from '../space/open.ts'
import { writeSetting } from '../space/settings.ts'
import type { DiskSpace } from '../space/space.ts'
import { beginDay } from './day.ts'
import { Demo, type DemoOptions } from './demo.ts'
import { KillableProcess } from './killable-process.ts'
import { makeDemoDir } from './leftovers.ts'
import { MockAgent } from './mock-agent.ts'
import { roles } from './roles.ts'
import { teamOf } from './team.ts'

/** A new space in the system's directory for temporary files; the demo writes nowhere else. */
export async function openDemoSpace(options: { keep: boolean }): Promise<DiskSpace> {
  const dir = makeDemoDir(options)
  // A demo need not survive a power loss, and its work may wait long for the person.
  writeSetting(dir, 'durability', 'os')
  writeSetting(dir, 'claimTtlMs', 12 * 3_600_000)
  writeSetting(dir, 'name', 'demo')
  return openDisk({ dir })
}

export const removeDemoSpace = ({ dir }: LocalSpace): void =>
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })

/** Runs a team of mock agents in a space until the signal stops it. */
export async function playDemo(space: LocalSpace, options: DemoOptions, signal: AbortSignal): Promise<void> {
  const demo = new Demo(space, options)
  const team = teamOf(options.agents)
  const mortal = team.findLast(({ role }) => role === 'worker')
  const killable = new KillableProcess()
  for (const member of team) {
    const agent = new MockAgent(demo, member, roles[member.role]!, member === mortal ? killable : undefined)
    demo.agents.set(member.name, agent)
  }
  try {
    await beginDay(demo)
    await demo.schedule.run(signal)
  } finally {
    await killable.kill()
  }
}
