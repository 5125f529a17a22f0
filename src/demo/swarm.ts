import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LocalSpace } from '../mod.ts'
import { openDisk } from '../space/open.ts'
import { writeSetting } from '../space/settings.ts'
import type { DiskSpace } from '../space/space.ts'
import { castOf } from './cast.ts'
import { createChance } from './chance.ts'
import { beginDay } from './day.ts'
import { habits } from './habits.ts'
import { Player } from './player.ts'
import { Schedule } from './schedule.ts'
import { createStage } from './stage.ts'
import { StandIn } from './stand-in.ts'
import { trades } from './trades.ts'

export interface DemoOptions {
  /** 1 to 20. */
  speed: number
  seed: number
  agents: number
  /** In the time of the story. @default 7_200: two hours at 1x, 24 minutes at 5x, six at 20x */
  daySeconds?: number
}

/** A space of its own, in the system's directory for temporary files; nothing else is written to. */
export async function openDemoSpace(): Promise<DiskSpace> {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-demo-'))
  // A demo survives no power cut, and its work may wait long for the person.
  writeSetting(dir, 'durability', 'os')
  writeSetting(dir, 'claimTtlMs', 12 * 3_600_000)
  return openDisk({ dir })
}

export const removeDemoSpace = ({ dir }: LocalSpace): void =>
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })

/** Lets a team of mock agents live in a space until the signal ends it. */
export async function playDemo(space: LocalSpace, options: DemoOptions, signal: AbortSignal): Promise<void> {
  const schedule = new Schedule(options.speed)
  const { seed, agents, daySeconds = 7_200 } = options
  const stage = createStage({ space, schedule, daySeconds, chance: createChance(seed) })
  const cast = castOf(agents)
  const standIn = new StandIn(cast.findLast(({ roles }) => roles.includes('worker'))?.name ?? '')
  for (const part of cast) {
    const role = part.roles[0] ?? ''
    const player = new Player({
      ...{ part, stage, behaviours: trades[role] ?? {}, habits: habits[role] ?? (() => {}) },
      pid: () => standIn.pidFor(part.name),
    })
    stage.players.set(part.name, player)
  }
  try {
    await beginDay(stage, standIn)
    await schedule.run(signal)
  } finally {
    await standIn.kill()
  }
}
