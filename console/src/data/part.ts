import { signal } from '@preact/signals'
import { whenReachable } from './connection.ts'

const parts: Part<unknown>[] = []
const reloadKey = 'mailbox.reloaded'
const pauseMs = 500
const idleTimeoutMs = 5_000

/**
 * Code that is loaded separately: a view, a chart, the Markdown renderer.
 *
 * Chromium remembers a failed import for the lifetime of the document: retrying fails without a request. So nothing is imported while the hub is away, and a part that failed anyway needs a new document.
 */
export class Part<T> {
  readonly code = signal<T | undefined>(undefined)
  /** Loading failed: the page will reload itself, or has done so already to no avail. */
  readonly failure = signal<'reloading' | 'stuck' | undefined>(undefined)
  readonly #import: () => Promise<T>
  #loading: Promise<boolean> | undefined

  constructor(load: () => Promise<T>) {
    this.#import = load
    parts.push(this as Part<unknown>)
  }

  /** Resolves to whether the code is there. */
  load(): Promise<boolean> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  async #load(): Promise<boolean> {
    await whenReachable()
    try {
      this.code.value = await this.#import()
      return true
    } catch {
      return false
    }
  }

  /** Something on the page needs it. */
  async want(): Promise<void> {
    if (await this.load()) return
    this.failure.value = wasReloaded() ? 'stuck' : 'reloading'
    if (this.failure.value === 'reloading') await reloadOnce()
  }
}

let isReloading = false

/** Reloads the page when the hub answers and nobody is typing. Drafts are kept in the browser. */
async function reloadOnce(): Promise<void> {
  if (isReloading) return
  isReloading = true
  await whenReachable()
  // The stream may not have noticed yet that the hub is gone, and reloading would lose the page.
  while (!(await isHubThere()) || isTyping()) await new Promise((resolve) => setTimeout(resolve, pauseMs))
  if (markReloaded()) location.reload()
}

const isHubThere = (): Promise<boolean> =>
  fetch('/health', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

const isTyping = (): boolean =>
  document.activeElement instanceof HTMLInputElement || document.activeElement instanceof HTMLTextAreaElement

function wasReloaded(): boolean {
  try {
    return sessionStorage.getItem(reloadKey) !== null
  } catch {
    return true
  }
}

function markReloaded(): boolean {
  try {
    sessionStorage.setItem(reloadKey, 'yes')
    return true
  } catch {
    return false
  }
}

/** Loads all parts when the browser is idle, so that they are there before they are needed. */
export async function loadParts(): Promise<void> {
  let isComplete = true
  // Loading a view adds its own parts to the list while we iterate.
  for (const part of parts) {
    await idle()
    isComplete = (await part.load()) && isComplete
  }
  if (isComplete) sessionStorage.removeItem(reloadKey)
}

const idle = (): Promise<void> =>
  new Promise((resolve) => {
    // Safari does not have it.
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: idleTimeoutMs })
    else setTimeout(resolve, 200)
  })
