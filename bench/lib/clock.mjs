/**
 * Milliseconds on the clock that all processes of a machine share (CLOCK_MONOTONIC on Linux), so that a
 * time taken in one process can be compared with one taken in another.
 */
export const sharedNow = () => Number(process.hrtime.bigint()) / 1e6

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits for a moment of the shared clock, the last millisecond of it awake. */
export async function waitUntil(moment) {
  const early = moment - sharedNow() - 2
  if (early > 0) await sleep(early)
  while (sharedNow() < moment) await new Promise(setImmediate)
}
