import type { Reporter, TestModule, Vitest } from 'vitest/node'

/** Ends the run with one line of figures. Above it stands why tests were skipped. */
export default class TallyReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0
    // A file that cannot be loaded, or an error outside any test, is a failure too.
    let failed = errors.length
    const skipped = new Map<string, string[]>()
    for (const module of modules) {
      if (module.state() === 'failed' && [...module.children.allTests()].length === 0) failed++
      for (const test of module.children.allTests()) {
        const result = test.result()
        if (result.state === 'passed') passed++
        else if (result.state === 'failed') failed++
        else {
          const reason = (result.state === 'skipped' ? result.note : undefined) ?? this.#unexplained()
          skipped.set(reason, [
            ...(skipped.get(reason) ?? []),
            `${module.relativeModuleId}: ${test.fullName}`,
          ])
        }
      }
    }
    process.on('exit', () => process.stdout.write(tally(passed, failed, skipped)))
  }

  #unexplained(): string {
    const pattern = this.#vitest?.config.testNamePattern
    return pattern === undefined ? 'no reason given' : `the name does not match ${pattern}`
  }
}

const namesShown = 3

export function tally(passed: number, failed: number, skipped: Map<string, string[]>): string {
  const reasons = [...skipped].flatMap(([reason, names]) => [
    `${names.length} skipped: ${reason}`,
    ...names.slice(0, namesShown).map((name) => `  ${name}`),
    ...(names.length > namesShown ? [`  and ${names.length - namesShown} more`] : []),
  ])
  const count = [...skipped.values()].reduce((sum, names) => sum + names.length, 0)
  const last = `${passed} passed, ${failed} failed${count > 0 ? `, ${count} skipped` : ''}`
  return `\n${[...reasons, last].join('\n')}\n`
}
