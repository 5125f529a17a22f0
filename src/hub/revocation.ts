import type { Caller, Callers } from './callers.ts'

/** What is open for a token, and is cut when the token ends. */
export class Revocation {
  readonly #callers: Callers
  readonly #held = new Map<() => void, Caller>()

  constructor(callers: Callers) {
    this.#callers = callers
    callers.onChange(() => this.look())
  }

  /** Holds something open for a caller until the returned function is called. `cut` ends it. */
  hold(caller: Caller, cut: () => void): () => void {
    this.#held.set(cut, caller)
    return () => this.#held.delete(cut)
  }

  isStillGood({ digest }: Caller): boolean {
    return this.#callers.callerWith(digest) !== undefined
  }

  /** Cuts what is open for tokens that are not valid any more. */
  look(): void {
    for (const [cut, caller] of [...this.#held]) {
      if (this.isStillGood(caller)) continue
      this.#held.delete(cut)
      cut()
    }
  }
}
