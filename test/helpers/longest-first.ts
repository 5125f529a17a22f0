import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest starts first, so that both workers end at about the same time. Vitest knows durations only from
 * an earlier run, and a fresh machine has none; this order comes from measurements (`npm test -- --reporter=json`).
 */
const slowest = [
  'test/crash/disk.test.ts',
  'test/console/',
  'test/clients/',
  'test/tmux/',
  'test/crash/',
  'test/agent/team.test.ts',
  'test/agent/examples.test.ts',
  'test/mcp/conformance.test.ts',
  'test/demo/',
  'test/property/history.test.ts',
  'test/life/',
  'test/index/',
  'test/race/',
  'test/mcp/',
  'test/hub/',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const file = relative(this.ctx.config.root, moduleId)
      const at = slowest.findIndex((start) => file.startsWith(start))
      return at === -1 ? slowest.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
