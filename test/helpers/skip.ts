import { TestRunner } from 'vitest'

/** Skips the running test and records why. Outside a test nothing can be skipped, so there it is an error. */
export function skipTest(reason: string): never {
  const test = TestRunner.getCurrentTest()
  if (test === undefined) throw new Error(reason)
  return test.context.skip(reason)
}
