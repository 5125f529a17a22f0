/** How long a task may take to end after it was aborted. */
const graceMs = 1_000

/** Gives up on a task that was aborted and does not end. */
export async function untilGrace(work: unknown, signal: AbortSignal): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const left = new Promise<never>((_, reject) => {
    const late = () => reject(new Error('it did not end after it was aborted'))
    const wait = () => {
      timer = setTimeout(late, graceMs)
    }
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true })
  })
  try {
    return await Promise.race([work, left])
  } finally {
    clearTimeout(timer)
  }
}
