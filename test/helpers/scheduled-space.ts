import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type fc from 'fast-check'
import { wallClock } from '../../src/base/clock.ts'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { SpaceCore } from '../../src/space/core.ts'
import { openDisk } from '../../src/space/open.ts'
import { readSettings } from '../../src/space/settings.ts'
import { DiskSpace } from '../../src/space/space.ts'

type Scheduler = fc.Scheduler

/** Several doors to one space, all in this process, whose every step the scheduler puts in its own order. */
export interface Stage {
  doors: DiskSpace[]
  /** A door that waits for nobody, to set the scene and to look at what came of it. */
  plain: DiskSpace
  /** Lets the acts happen at once, in the scheduler's order, until all are over. */
  play<T>(acts: (() => Promise<T>)[]): Promise<PromiseSettledResult<T>[]>
}

/** Runs `work` on a new space with so many doors, and clears it away. */
export async function onStage(
  scheduler: Scheduler,
  doors: number,
  work: (stage: Stage) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-race-'))
  const gate = { open: true }
  const spaces: DiskSpace[] = []
  try {
    const plain = await openDisk({ dir, settings: { durability: 'os' } })
    spaces.push(plain)
    for (let door = 1; door <= doors; door++)
      spaces.push(await openDoor(dir, scheduler, `door ${door}`, gate))
    await work({
      plain,
      doors: spaces.slice(1),
      async play(acts) {
        gate.open = false
        const ends = Promise.allSettled(
          acts.map(async (act, at) => {
            await scheduler.schedule(Promise.resolve(), `act ${at} begins`)
            return act()
          }),
        )
        return scheduler.waitFor(ends).finally(() => {
          gate.open = true
        })
      },
    })
  } finally {
    for (const space of spaces) await space.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function openDoor(
  dir: string,
  scheduler: Scheduler,
  label: string,
  gate: { open: boolean },
): Promise<DiskSpace> {
  const settings = { ...readSettings(dir), durability: 'os' as const }
  const journal = new FileJournal({ ...settings, dir })
  const core = new SpaceCore(dir, scheduled(journal, scheduler, label, gate), settings, wallClock())
  await core.load()
  return new DiskSpace(core)
}

/**
 * A journal that asks the scheduler before it looks for news, before it appends and before it says that it
 * has. Those are the places where a process can be overtaken by another; everything between is one step.
 */
function scheduled(
  journal: FileJournal,
  scheduler: Scheduler,
  label: string,
  gate: { open: boolean },
): Journal {
  const turn = (what: string) =>
    gate.open ? Promise.resolve() : scheduler.schedule(Promise.resolve(), `${label} ${what}`)
  const slow: Pick<Journal, 'pull' | 'append'> = {
    async pull() {
      await turn('looks')
      journal.pull()
    },
    async append(decide, options) {
      await turn('appends')
      const placed = await journal.append(decide, options)
      await turn('has appended')
      return placed
    },
  }
  return new Proxy<Journal>(journal, {
    get(target, property) {
      if (property === 'pull' || property === 'append') return slow[property]
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** What those who were not refused got. Any end but a conflict is a failure of the test. */
export function won<T>(ends: PromiseSettledResult<T>[]): T[] {
  return ends.flatMap((end) => {
    if (end.status === 'fulfilled') return [end.value]
    if ((end.reason as { code?: string }).code !== 'conflict') throw end.reason
    return []
  })
}
