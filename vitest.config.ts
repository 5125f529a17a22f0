import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/helpers/longest-first.ts'
import { quickFiles } from './test/helpers/quick.ts'

const isQuick = process.env['TEST_RUN'] === 'quick'

/** Suites of which a part also runs over PostgreSQL in `npm test`; `npm run storm -- --postgres` runs all of them. */
const overPostgres = [
  'test/space/check.test.ts',
  'test/life/claims.test.ts',
  'test/property/found.test.ts',
  'test/race/processes.test.ts',
]

/** What is about the files of a journal and its copies. */
const aboutFiles = ['test/space/repair.test.ts', 'test/space/scrub.test.ts']

export default defineConfig({
  test: {
    exclude: [...configDefaults.exclude, ...(process.env['TEST_JOURNAL'] === 'postgres' ? aboutFiles : [])],
    projects: [
      { extends: true, test: { name: 'all', include: isQuick ? quickFiles : ['test/**/*.test.ts'] } },
      ...(isQuick || process.env['STORM'] !== undefined
        ? []
        : [
            {
              extends: true as const,
              test: { name: 'postgres', include: overPostgres, env: { TEST_JOURNAL: 'postgres' } },
            },
          ]),
    ],
    globalSetup: './test/helpers/bring-tools.ts',
    // What a space in a test leaves in the user's configuration must not end up in the real one.
    env: { XDG_CONFIG_HOME: join(tmpdir(), 'agent-mailbox-test-config') },
    // Only ends what hangs: on a busy machine everything takes its time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // More than cores: the longest tests wait for terminals, browsers and clients most of the time.
    maxWorkers: 6,
    // Test files keep nothing in modules; loading those anew for each file takes a fifth of the whole run.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/helpers/tally-reporter.ts'],
  },
})
