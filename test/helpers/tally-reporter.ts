import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { type FileResult, tally } from '../../scripts/tally.mjs'

/** Ends the run with one line of figures, or leaves them to `npm test` (TEST_RESULTS). */
export default class TallyReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const files = modules.map((module) => this.#resultOf(module))
    const into = process.env['TEST_RESULTS']
    if (into === undefined)
      process.on('exit', () => process.stdout.write(tally(files, { errors: errors.length })))
    else writeFileSync(into, JSON.stringify({ files, errors: errors.length }))
  }

  #resultOf(module: TestModule): FileResult {
    const result: FileResult = {
      ...{ project: module.project.name, file: module.relativeModuleId, passed: 0, failed: [], skipped: [] },
    }
    const tests = [...module.children.allTests()]
    if (module.state() === 'failed' && tests.length === 0) result.failed.push('it cannot be loaded')
    for (const test of tests) {
      const { state, ...outcome } = test.result()
      if (state === 'passed') result.passed++
      else if (state === 'failed') result.failed.push(test.fullName)
      else {
        const note = state === 'skipped' && 'note' in outcome ? outcome.note : undefined
        result.skipped.push([note ?? this.#unexplained(), test.fullName])
      }
    }
    // A file also fails by what comes before or after its tests.
    if (module.state() === 'failed' && result.failed.length === 0) result.failed.push('around its tests')
    return result
  }

  #unexplained(): string {
    const pattern = this.#vitest?.config.testNamePattern
    return pattern === undefined ? 'no reason given' : `the name does not match ${pattern}`
  }
}
