import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listIfAny } from '../../base/files.ts'
import { localProcess, type ProcessIdentity, processState, startTimeOf } from '../../base/process.ts'

/**
 * The subagents that run in a client's process, for a client whose hooks do not say which tool calls are theirs. A
 * file for each, so that several can begin and end at once. `hook.sh` knows the path too.
 */
export class Delegations {
  readonly #dir: string

  constructor(space: string, client: string, owner: ProcessIdentity) {
    this.#dir = join(rootOf(space), `${client}-${owner.pid}-${startTimeOf(owner)}`)
  }

  get isUnderWay(): boolean {
    return listIfAny(this.#dir).length > 0
  }

  begin(delegation: string): void {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    writeFileSync(join(this.#dir, delegation), '', { mode: 0o600 })
  }

  end(delegation: string): void {
    rmSync(join(this.#dir, delegation), { force: true })
    try {
      rmdirSync(this.#dir)
    } catch {
      // Others are still under way, or there was none.
    }
  }

  /** The turn is over, whatever became of them. */
  clear(): void {
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

const rootOf = (space: string): string => join(space, 'hooks', 'subagents')

/** Removes what processes have left that have ended. */
export function sweepDelegations(space: string): void {
  for (const name of listIfAny(rootOf(space))) {
    const [, pid, started] = /-(\d+)-(\d+)$/.exec(name) ?? []
    if (pid === undefined || started === undefined) continue
    if (processState(localProcess(Number(pid), started)) === 'gone')
      rmSync(join(rootOf(space), name), { recursive: true, force: true })
  }
}
