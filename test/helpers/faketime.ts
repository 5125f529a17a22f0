import { existsSync } from 'node:fs'
import { skipTest } from './skip.ts'
import { needTool } from './tools.ts'

const libraries = ['x86_64', 'aarch64'].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`)
const library = libraries.find((path) => existsSync(path))

/** Skips the test where the wall clock of a process cannot be faked. */
export function needFaketime(): void {
  needTool('faketime')
  if (library === undefined) skipTest(`needs libfaketime in one of: ${libraries.join(', ')}`)
}

/** The environment of a process whose wall clock is off: `+1h`, `-5y`. Time passes for it as for all others. */
export const wallClockAt = (faketime: string): Record<string, string> => ({
  LD_PRELOAD: library!,
  FAKETIME: faketime,
  DONT_FAKE_MONOTONIC: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})
