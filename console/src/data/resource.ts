import { type Signal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { ApiError } from './api.ts'
import { onLive } from './connection.ts'
import { onEntries } from './live.ts'
import type { Entry } from './types.ts'

export interface ResourceOptions<T> {
  /** Minimum time between two requests, for data that need not follow every message. @default 250 */
  restMs?: number
  load: (known: T | undefined, signal: AbortSignal) => Promise<T>
  /**
   * Applies new entries to the known data, so that most changes need no request. `stale` means that the data
   * must be loaded again.
   */
  apply?: (data: T, entries: readonly Entry[]) => { data: T; stale: boolean }
}

/** Requests are spaced by a multiple of the time the last one took, so that a busy hub is not flooded. */
const restFactor = 4
const longestRestMs = 10_000
const retryMs = 2_000

/** Data from the hub: shown while a newer version is loading, and refreshed when entries change it. */
export class Resource<T> {
  readonly data: Signal<T | undefined> = signal(undefined)
  readonly error: Signal<ApiError | null> = signal(null)
  readonly options: ResourceOptions<T>
  #users = 0
  #loading: AbortController | undefined
  #loaded: Promise<void> | undefined
  #again = false
  #timer: ReturnType<typeof setTimeout> | undefined
  /** No request before this time: slow ones are made less often. */
  #restUntil = 0
  #stops: (() => void)[] = []

  constructor(options: ResourceOptions<T>) {
    this.options = options
  }

  use(): () => void {
    this.#users++
    if (this.#users === 1) {
      this.#stops = [
        onEntries((entries) => this.#apply(entries)),
        onLive(() => this.error.peek()?.isTransient && void this.refresh()),
      ]
      void this.refresh()
    }
    return () => {
      this.#users--
      if (this.#users > 0) return
      for (const stop of this.#stops) stop()
      clearTimeout(this.#timer)
      this.#loading?.abort()
    }
  }

  /** Resolves when the data is at least as new as this call. */
  async reload(): Promise<void> {
    while (this.#loading !== undefined) await this.#loaded
    await this.refresh()
  }

  async refresh(): Promise<void> {
    if (this.#loading !== undefined) {
      this.#again = true
      return
    }
    this.#loaded = this.#load()
    await this.#loaded
  }

  async #load(): Promise<void> {
    clearTimeout(this.#timer)
    const loading = new AbortController()
    this.#loading = loading
    this.#again = false
    const started = performance.now()
    try {
      this.data.value = await this.options.load(this.data.value, loading.signal)
      this.error.value = null
    } catch (error) {
      if (!loading.signal.aborted) {
        const problem = error instanceof ApiError ? error : new ApiError('internal', String(error))
        this.error.value = problem
        if (problem.isTransient) this.#retrySoon()
      }
    } finally {
      this.#loading = undefined
      const tookMs = performance.now() - started
      this.#restUntil =
        performance.now() + Math.min(longestRestMs, Math.max(this.options.restMs ?? 250, restFactor * tookMs))
    }
    // Entries that arrived meanwhile may not be in the answer.
    if (this.#again) this.refreshSoon()
  }

  /** Until it succeeds, the known data stays on the page. */
  #retrySoon(): void {
    if (this.#users > 0) this.#timer = setTimeout(() => void this.refresh(), retryMs)
  }

  refreshSoon(): void {
    clearTimeout(this.#timer)
    if (this.#users === 0) return
    this.#timer = setTimeout(() => void this.refresh(), Math.max(30, this.#restUntil - performance.now()))
  }

  #apply(entries: readonly Entry[]): void {
    const { apply } = this.options
    const known = this.data.value
    if (apply === undefined) return
    if (known === undefined) {
      this.#again = this.#loading !== undefined
      return
    }
    const { data, stale } = apply(known, entries)
    if (data !== known) this.data.value = data
    if (this.#loading !== undefined && (stale || data !== known)) this.#again = true
    else if (stale) this.refreshSoon()
  }
}

/** Pages that were just left are shown at once when the person returns, and then refreshed. */
const cache = new Map<string, Resource<unknown>>()
const kept = 24

function resource<T>(key: string, options: () => ResourceOptions<T>): Resource<T> {
  const found = (cache.get(key) as Resource<T> | undefined) ?? new Resource<T>(options())
  cache.delete(key)
  cache.set(key, found as Resource<unknown>)
  if (cache.size > kept) cache.delete(cache.keys().next().value!)
  return found
}

export function useResource<T>(key: string, options: () => ResourceOptions<T>): Resource<T> {
  const found = useMemo(() => resource(key, options), [key])
  useEffect(() => found.use(), [found])
  return found
}
