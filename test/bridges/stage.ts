import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { onDemand } from '../../src/base/objects.ts'
import { Bridge, type BridgeOptions } from '../../src/bridges/bridge.ts'
import type { Problem } from '../../src/bridges/problem.ts'
import { formatNamed } from '../../src/bridges/registry.ts'
import { bridgeId, memoryPath } from '../../src/bridges/remembered.ts'
import type { BridgedSpace } from '../../src/space/bridged.ts'
import { openRemoteForBridge } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { reach } from '../helpers/cli.ts'
import { stageHub } from '../helpers/hub.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

/** A space with an agent of its own, zoe, and a folder of another system. */
export interface Stage {
  space: DiskSpace
  folder: string
  /** Where the bridge keeps what it knows. */
  memory: () => Promise<string>
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
  const bridged = onDemand(() => (reach.throughHub === undefined ? space : throughHub(space)))
  const memory = async () => memoryPath((await bridged()).dir, bridgeId(format, folder))
  const create = async (options: Partial<BridgeOptions> = {}) => {
    return new Bridge({
      space: await bridged(),
      path: folder,
      memory: await memory(),
      format: formatNamed(format),
      onProblem,
      ...options,
    })
  }
  return {
    space,
    folder,
    memory,
    problems,
    async sync(options) {
      const bridge = await create(options)
      try {
        return await bridge.once()
      } finally {
        bridge.close()
      }
    },
    run() {
      const stop = new AbortController()
      const ended = create().then((bridge) =>
        bridge
          .run(stop.signal)
          .catch((error: unknown) => void problems.push(`the bridge ended: ${(error as Error).stack}`))
          .finally(() => bridge.close()),
      )
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

let bridges = 0

/** With `TEST_HUB=on` the bridges of these suites reach their space through a hub. */
async function throughHub(space: DiskSpace): Promise<BridgedSpace> {
  const { url, agentToken } = await stageHub({ space })
  // A second token of the same name would end the first.
  const token = agentToken(`bridge-${++bridges}`, { scopes: ['read-all', 'bridge'] })
  const { space: bridged, close } = await openRemoteForBridge({ url, token })
  onTestFinished(close)
  return bridged
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
