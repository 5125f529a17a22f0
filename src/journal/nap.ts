const cell = new Int32Array(new SharedArrayBuffer(4))

/** Stops this thread for so long, without giving way to anything else in it. */
export const nap = (ms: number): void => void Atomics.wait(cell, 0, 0, ms)
