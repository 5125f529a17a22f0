import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Bridge, type BridgeOptions } from '../../src/bridges/bridge.ts'
import type { Problem } from '../../src/bridges/problem.ts'
import { formatNamed } from '../../src/bridges/registry.ts'
import { bridgeId, memoryPath } from '../../src/bridges/remembered.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

/** A space with an agent of its own, zoe, and a folder of another system. */
export interface Stage {
  space: DiskSpace
  folder: string
  /** What was reported, as `place:line reason`. */
  problems: string[]
  /** Brings both sides up to date, as a process of its own would. */
  sync: (options?: Partial<BridgeOptions>) => Promise<Bridge['tally']>
  /** Runs the bridge until the test is over, or until it is stopped. */
  run: () => () => Promise<void>
  put: (path: string, text: string | object) => void
  text: (path: string) => string
  files: (dir?: string) => string[]
}

export async function stage(format: string, settings: object = {}): Promise<Stage> {
  const space = await tempSpace({ settings })
  await space.join('zoe')
  return stageIn(space, format, tempDir())
}

export function stageIn(space: DiskSpace, format: string, folder: string): Stage {
  const problems: string[] = []
  const onProblem = ({ place, line, reason }: Problem) =>
    void problems.push(`${place}${line === undefined ? '' : `:${line}`} ${reason}`)
  const memory = memoryPath(space.dir, bridgeId(format, folder))
  const create = (options: Partial<BridgeOptions> = {}) =>
    new Bridge({ space, path: folder, memory, format: formatNamed(format), onProblem, ...options })
  return {
    space,
    folder,
    problems,
    async sync(options) {
      const bridge = create(options)
      try {
        return await bridge.once()
      } finally {
        bridge.close()
      }
    },
    run() {
      const bridge = create()
      const stop = new AbortController()
      const ended = bridge
        .run(stop.signal)
        .catch((error: unknown) => void problems.push(`the bridge ended: ${(error as Error).stack}`))
        .finally(() => bridge.close())
      const end = () => {
        stop.abort()
        return ended
      }
      onTestFinished(end)
      return end
    },
    put(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), typeof text === 'string' ? text : JSON.stringify(text, null, 2))
    },
    text: (path) => readFileSync(join(folder, path), 'utf8'),
    files: (dir = '') =>
      readdirSync(join(folder, dir), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
        .sort(),
  }
}

/** The state of a message for a recipient. */
export async function stateOf(space: DiskSpace, id: string, recipient: string): Promise<string | undefined> {
  const { receipts } = await space.show(id)
  return receipts.find((receipt) => receipt.recipient === recipient)?.state
}

/** All mail of an agent, the oldest first. */
export async function mailOf(space: DiskSpace, name: string) {
  const { messages } = await space.mailboxInside(name).inbox({ all: true, limit: 1_000 })
  return messages.sort((a, b) => a.seq - b.seq)
}
