import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { TaskPushNotificationConfig } from '@a2a-js/sdk'
import { RequestMalformedError } from '@a2a-js/sdk/errors'
import { readJsonIfAny, writeFileAtomically } from '../../base/files.ts'
import { checkOutward, type Outward } from '../../base/outward.ts'
import { hubDir, makeHubDir, whileLocked } from '../hub-dir.ts'

/** A push notification that a caller has asked for. */
export interface PushConfig extends TaskPushNotificationConfig {
  caller: string
  /** The sequence number up to which it was posted. */
  seq: number
}

const perCaller = 1_000

/** The push notifications that callers have asked for, in `hub/a2a-push.json` (0600): they may have secrets in them. */
export class PushConfigs {
  readonly #dir: string
  readonly #outward: Outward
  readonly #lastSeq: () => Promise<number>
  readonly #listeners = new Set<(config: PushConfig) => void>()

  constructor(dir: string, outward: Outward, lastSeq: () => Promise<number>) {
    this.#dir = dir
    this.#outward = outward
    this.#lastSeq = lastSeq
  }

  get #file(): string {
    return join(hubDir(this.#dir), 'a2a-push.json')
  }

  all = (): PushConfig[] => readJsonIfAny<PushConfig[]>(this.#file) ?? []

  of = (caller: string, taskId: string): TaskPushNotificationConfig[] =>
    this.all()
      .filter((one) => one.caller === caller && one.taskId === taskId)
      .map(({ caller: _, seq: _seq, ...config }) => config)

  async add(caller: string, given: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    const problem = checkOutward(given.url, this.#outward)
    if (problem !== undefined) throw new RequestMalformedError(problem)
    const config = { ...given, id: given.id || randomUUID() }
    const added = { ...config, caller, seq: await this.#lastSeq() }
    this.#change((configs) => {
      if (configs.filter((one) => one.caller === caller).length >= perCaller)
        throw new RequestMalformedError(`a caller can have ${perCaller} push notifications`)
      return [...configs.filter((one) => !isSame(one, added)), added]
    })
    for (const listener of this.#listeners) listener(added)
    return config
  }

  remove = (caller: string, taskId: string, id: string): void =>
    this.#change((configs) => configs.filter((one) => !isSame(one, { caller, taskId, id })))

  /** Records up to where one was posted. */
  posted = (config: PushConfig, seq: number): void =>
    this.#change((configs) => configs.map((one) => (isSame(one, config) ? { ...one, seq } : one)))

  onAdded(listener: (config: PushConfig) => void): void {
    this.#listeners.add(listener)
  }

  #change(work: (configs: PushConfig[]) => PushConfig[]): void {
    makeHubDir(this.#dir)
    whileLocked(this.#file, () => writeFileAtomically(this.#file, `${JSON.stringify(work(this.all()))}\n`))
  }
}

type Name = Pick<PushConfig, 'caller' | 'taskId' | 'id'>

const isSame = (one: Name, other: Name): boolean =>
  one.caller === other.caller && one.taskId === other.taskId && one.id === other.id
