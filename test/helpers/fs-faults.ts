import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { onTestFinished } from 'vitest'

type Fs = typeof fs
// biome-ignore lint/suspicious/noExplicitAny: any function of node:fs
type FunctionOf<K extends keyof Fs> = Extract<Fs[K], (...args: any[]) => unknown>

/**
 * Replaces a function of node:fs for the rest of a test, in this process. `make` gets the real one, so
 * that a fault can do half of the work and then fail as the kernel would.
 */
export function patchFs<K extends keyof Fs>(
  name: K,
  make: (real: FunctionOf<K>) => (...args: Parameters<FunctionOf<K>>) => unknown,
): void {
  const real = fs[name]
  const put = (value: unknown) => {
    Object.assign(fs, { [name]: value })
    syncBuiltinESMExports()
  }
  put(make(real as FunctionOf<K>))
  onTestFinished(() => put(real))
}

/** An error as the kernel reports it. */
export const systemError = (code: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: made by a test`), { code })

/** Lets `count` calls through, makes the next one fail with `code`, and lets the rest through again. */
export function failCall<K extends keyof Fs>(name: K, code: string, count = 0): void {
  let calls = 0
  patchFs(name, (real) => (...args) => {
    if (calls++ === count) throw systemError(code)
    return (real as (...all: unknown[]) => unknown)(...args)
  })
}

/** Every write takes at most so many bytes: what a pipe, a signal or a nearly full disk does. */
export function shortWrites(atMost: number): void {
  patchFs('writeSync', (real) => (...args) => {
    const [fd, data, offset, length] = args as unknown as [number, Buffer, number, number?]
    return real(fd, data, offset, Math.min(length ?? data.length - offset, atMost))
  })
}
