/** Only ends what would hang: on a busy machine everything takes its time. */
const limitMs = 150_000

/** Many looks start a process, such as tmux: looking more often would only slow down what is waited for. */
const pollMs = 25

/** What `until` gives back: an answer that is neither false nor missing. */
type Found<T> = Exclude<T, undefined | false | null>

/**
 * Asks again and again until the answer is neither false nor missing, and gives it. For what no event announces.
 * `what` is named when it does not come true.
 */
export async function until<T>(
  ...[what, look]: [look: () => T | Promise<T>] | [what: string, look: () => T | Promise<T>]
): Promise<Found<T>> {
  const ask = look ?? (what as () => T | Promise<T>)
  const end = performance.now() + limitMs
  for (;;) {
    const found = await ask()
    if (found !== undefined && found !== false && found !== null) return found as Found<T>
    if (performance.now() > end) throw new Error(`still not so after ${limitMs / 1_000} s: ${what}`)
    await letPass(pollMs)
  }
}

/** Checks again and again until nothing is wrong any more. The limit is the test's own. */
export async function untilRight(check: () => void | Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await check()
    } catch {
      await letPass(pollMs)
    }
  }
}

/**
 * Lets real time pass. Only for what no event announces: that something does not happen, or a moment chosen by
 * chance. `test/tidy.test.ts` names the files that may use it.
 */
export function letPass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
