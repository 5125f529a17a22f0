import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/helpers/longest-first.ts'
import { quickFiles } from './test/helpers/quick.ts'

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  version: string
}
const isQuick = process.env['TEST_RUN'] === 'quick'
/** Asked for in one way only: nothing runs in the others as well. */
const isOneWay = ['STORM', 'TEST_DESK', 'TEST_HUB'].some((name) => process.env[name] !== undefined)

/** Suites of which a part also runs over PostgreSQL in `npm test`; `npm run storm -- --postgres` runs all of them. */
const overPostgres = [
  'test/space/check.test.ts',
  'test/life/claims.test.ts',
  'test/property/found.test.ts',
  'test/race/processes.test.ts',
  'test/desk/commands.test.ts',
  'test/desk/kills.test.ts',
]

/** How the suites run with a desk, with one that is hurt, or without any: test/helpers/with-desk.ts. */
const desk = process.env['TEST_DESK']
const deskEnv = (mode: string) => ({ TEST_DESK: mode, ...(mode === 'off' ? { MAILBOX_DESK: 'off' } : {}) })
/** A desk works for programs of its own version; what runs from dist/ has one. */
const sameVersion = { define: { __VERSION__: JSON.stringify(version) } }

/** Suites of which a part also runs with a desk that is hurt; `npm run storm -- --desk` runs all of them in each way. */
const overDesk = [
  'test/desk/suites.test.ts',
  'test/space/check.test.ts',
  'test/cli/story.test.ts',
  'test/property/found.test.ts',
  'test/race/processes.test.ts',
]

/** The stories of the command line through a hub; `npm run storm -- --hub` runs the other files about it as well. */
const overHub = ['test/cli/story.test.ts']
const throughHub = { setupFiles: ['./test/helpers/over-hub.ts'] }

/** What is about the files of a journal and its copies. */
const aboutFiles = ['test/space/repair.test.ts', 'test/space/scrub.test.ts']

/** What a run leaves out. */
const leftOut = [
  ...(process.env['TEST_JOURNAL'] === 'postgres' ? aboutFiles : []),
  // Is about the desk of the suites.
  ...(desk === undefined ? ['test/desk/suites.test.ts'] : []),
]

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        ...(desk === undefined ? {} : sameVersion),
        test: {
          name: 'all',
          include: isQuick ? quickFiles : ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...leftOut],
          ...(desk === undefined ? {} : { env: deskEnv(desk) }),
          ...(process.env['TEST_HUB'] === undefined ? {} : throughHub),
        },
      },
      ...(isQuick || isOneWay
        ? []
        : [
            {
              extends: true as const,
              test: { name: 'postgres', include: overPostgres, env: { TEST_JOURNAL: 'postgres' } },
            },
            {
              extends: true as const,
              ...sameVersion,
              test: { name: 'desk', include: overDesk, env: deskEnv('hurt') },
            },
            { extends: true as const, test: { name: 'hub', include: overHub, ...throughHub } },
          ]),
    ],
    globalSetup: './test/helpers/bring-tools.ts',
    // What a space in a test leaves in the user's configuration must not end up in the real one.
    env: {
      XDG_CONFIG_HOME: join(tmpdir(), 'agent-mailbox-test-config'),
      // Most commands run in a home of their own, and need not compile the program each time.
      NODE_COMPILE_CACHE: join(tmpdir(), 'agent-mailbox-test-code'),
      // Where it is set, each of thousands of processes would read these certificates for 30 ms. No test needs them.
      NODE_EXTRA_CA_CERTS: '',
    },
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
