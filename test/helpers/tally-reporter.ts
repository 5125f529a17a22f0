import type { Reporter, TestModule } from 'vitest/node'

/** Ends the run with the one line that counts. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0
    // A file that cannot be loaded, or an error outside any test, is a failure too.
    let failed = errors.length
    for (const module of modules) {
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0) failed++
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed') failed++
      }
    }
    process.on('exit', () => process.stdout.write(`\n${passed} passed, ${failed} failed\n`))
  }
}
