import { existsSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { onDemand } from '../base/objects.ts'

export interface WorkerData {
  dir: string
  projection: 'tables' | 'words'
}
export type ToWorker = 'catch up' | 'end'
/** The seq reached so far, and at the end whether everything has been applied. */
export type FromWorker = number | boolean

/**
 * Catches a projection up on a separate thread, so that applying a large backlog does not block this one. The
 * thread is another reader of the same files, as a second process would be. Where there is no worker file (run
 * from source, or bundled into another program) it returns false, and the caller does the work itself.
 */
export class Background {
  readonly #data: WorkerData
  #worker: Worker | undefined
  #under: Promise<boolean> | undefined
  #settle: (caughtUp: boolean) => void = () => {}
  #ended = false
  #onProgress: (seq: number) => void = () => {}

  constructor(data: WorkerData) {
    this.#data = data
  }

  get available(): boolean {
    return workerFile() !== undefined
  }

  /** Resolves to true when everything in the journal has been applied, or to false if that failed. */
  catchUp(onProgress: (seq: number) => void = () => {}): Promise<boolean> {
    this.#onProgress = onProgress
    this.#under ??= this.#run().finally(() => (this.#under = undefined))
    return this.#under
  }

  async #run(): Promise<boolean> {
    if (!this.available || this.#ended) return false
    this.#worker ??= await this.#start(workerFile()!)
    const caughtUp = new Promise<boolean>((resolve) => (this.#settle = resolve))
    this.#worker.postMessage((this.#ended ? 'end' : 'catch up') satisfies ToWorker)
    return caughtUp
  }

  async #start(file: URL): Promise<Worker> {
    const { Worker } = await import('node:worker_threads')
    const worker = new Worker(file, { workerData: this.#data })
    worker.unref()
    worker.on('message', (message: FromWorker) => {
      if (typeof message === 'number') this.#onProgress(message)
      else this.#settle(message)
    })
    worker.on('error', () => this.#settle(false))
    worker.on('exit', () => {
      this.#worker = undefined
      this.#settle(false)
    })
    return worker
  }

  async close(): Promise<void> {
    this.#ended = true
    const worker = this.#worker
    if (worker === undefined) return
    const gone = new Promise((resolve) => worker.once('exit', resolve))
    worker.ref()
    worker.postMessage('end' satisfies ToWorker)
    await gone
  }
}

/** Beside the bundle, or one directory above one of its chunks. */
const workerUrls = () =>
  ['./index-worker.js', '../index-worker.js'].map((path) => new URL(path, import.meta.url))
const workerFile = onDemand(() => workerUrls().find((url) => existsSync(url)))
