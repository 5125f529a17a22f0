import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest starts first, so that all workers end at about the same time, and tests with a browser, which
 * keep the processors busy, take turns with tests that mostly wait. Vitest knows durations only from an earlier run,
 * and a fresh machine has none; this order comes from measurements (`npm test -- --reporter=json`).
 */
const slowest = [
  'test/clients/real/resume.test.ts',
  'test/crash/disk.test.ts',
  'test/console/views.test.ts',
  'test/clients/setup/clients.test.ts',
  'test/crash/archive.test.ts',
  'test/console/live.test.ts',
  'test/tmux/kill.test.ts',
  'test/life/timekeeper.test.ts',
  'test/clients/hook/moments.test.ts',
  'test/console/hostile.test.ts',
  'test/tmux/typing.test.ts',
  'test/clients/real/subagents.test.ts',
  'test/demo/',
  'test/console/',
  'test/clients/hook/',
  'test/clients/real/',
  'test/agent/team.test.ts',
  'test/clients/',
  'test/tmux/',
  'test/crash/',
  'test/agent/examples.test.ts',
  'test/mcp/conformance.test.ts',
  'test/property/history.test.ts',
  'test/life/',
  'test/index/',
  'test/race/',
  'test/hub/serve.test.ts',
  'test/settling/table.test.ts',
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
