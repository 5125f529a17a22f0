// npm run storm: the long versions of the tests, and the campaigns. A test reads STORM (test/helpers/storm.ts).
//   npm run storm                      every campaign
//   npm run storm -- --kills --power   only these
//   npm run storm -- --kills=500       with another count than the campaign's own
//   npm run storm -- --week --seed 7 --mode hooks    one run of a campaign that has seeds, again
//   npm run storm -- --kills=500@2     as the second of several runs, which the report adds up
//   npm run storm -- test/crash        the long versions of the tests in these files or folders
//   npm run storm -- --report          write the figures of the last runs into docs/reliability.md
import { bin, orExit, run } from './run.mjs'
import { report } from './storm-report.mjs'

/** The stories of the command line that do not need to know where the space is. */
const throughHub = [
  ...['story', 'json', 'exit', 'stream', 'text', 'words', 'fence', 'route', 'graph'].map(
    (name) => `cli/${name}`,
  ),
  ...['ao', 'adr003', 'lines', 'later', 'round-trip'].map((name) => `bridges/${name}`),
].map((name) => `test/${name}.test.ts`)

/** Each campaign by its name: the tests it runs. */
const campaigns = {
  long: {
    files: [
      'test/crash',
      'test/index',
      'test/property',
      'test/race',
      'test/encrypted',
      'test/space',
      'test/agent/team',
      'test/life',
      'test/clients/hook',
      'test/clients/real/subagents',
      'test/clients/real/resume',
      'test/clients/setup',
      'test/tmux',
    ],
  },
  kills: { files: ['test/crash/kills.test.ts'] },
  errors: { files: ['test/crash/errors.test.ts'] },
  power: { files: ['test/crash/power.test.ts'] },
  files: { files: ['test/crash/files.test.ts'] },
  claims: { files: ['test/claims'] },
  // Then the usual suites, with a desk, with one that is hurt all the while, and without any.
  desk: {
    files: ['test/desk/kills.test.ts', 'test/desk/scheduler.test.ts'],
    also: ['on', 'hurt', 'off'].map((mode) => ({
      files: [
        ...['test/desk/suites.test.ts', 'test/journal/contract.test.ts', 'test/space', 'test/life'],
        ...['test/settling', 'test/property', 'test/race', 'test/claims', 'test/cli'],
      ],
      env: { TEST_DESK: mode, STORM: '' },
    })),
  },
  // Programs of other systems and agents of ours, while either is killed; and a kill at every system call.
  bridges: { files: ['test/bridges'] },
  // Damage of all kinds at random, and a repair of it.
  repair: { files: ['test/journal/repair.test.ts', 'test/crash/repair.test.ts'] },
  // Every bit and byte of a small space, flipped one by one.
  damage: { files: ['test/damage', 'test/index/flips.test.ts'] },
  // Public corpora of hostile input, whole, through every entry.
  corpora: { files: ['test/corpora', 'test/clients/hook/corpora.test.ts'] },
  // Generated inputs through every entry.
  inputs: { files: ['test/inputs'] },
  // Everything that does not look at the files of the journal, over PostgreSQL; and what only that has.
  postgres: {
    files: [
      'test/postgres',
      ...['test/space', 'test/life', 'test/property', 'test/race', 'test/claims', 'test/settling'],
    ],
    env: { TEST_JOURNAL: 'postgres' },
  },
  // Three machines on one database: kill -9 of the server, of hubs and of writers, and cuts in the middle of commits.
  machines: { files: ['test/postgres/storm.test.ts'] },
  // A primary is killed under load, and its synchronous standby promoted.
  standby: { files: ['test/postgres/standby.test.ts'] },
  // Two hubs behind one address, one of them killed every five seconds.
  hubs: { files: ['test/postgres/hub-kills.test.ts'] },
  // A hub that brings mail to an agent of another system is killed again and again.
  a2a: { files: ['test/hub/a2a/out.test.ts'] },
  // The command line and bridges, told to go through a hub, and through one whose space is in PostgreSQL.
  hub: {
    files: throughHub,
    env: { TEST_HUB: 'on' },
    also: [{ files: throughHub, env: { TEST_HUB: 'on', TEST_JOURNAL: 'postgres' } }],
  },
  // Weeks of a team, against a model of what a reasonable person expects to be told.
  week: { files: ['test/week'] },
}

const { words, seed, mode } = takeOptions(process.argv.slice(2))
const chosen = words
  .filter((word) => word.startsWith('--'))
  .map((word) => {
    const [name, count] = word.slice(2).split('=')
    const [size, part = ''] = count?.split('@') ?? []
    return { name, count: size, part }
  })
const files = words.filter((word) => !word.startsWith('--'))
const unknown = chosen.filter(({ name }) => name !== 'report' && !(name in campaigns))
if (unknown.length > 0) {
  const known = [...Object.keys(campaigns), 'report'].join(', ')
  console.error(`storm: no campaign named ${unknown.map(({ name }) => name).join(', ')}; there are: ${known}`)
  process.exit(2)
}

const all = Object.keys(campaigns).map((name) => ({ name }))
const wanted = chosen.filter(({ name }) => name !== 'report')
const running = chosen.length > 0 ? wanted : files.length > 0 ? [{ name: 'long' }] : all
let worst = 0
if (running.length > 0) orExit(run(process.execPath, ['scripts/build.mjs', '--no-types']))
for (const { name, count, part } of running) {
  console.log(`\n== ${name}`)
  const env = {
    ...{ TEST_RUN: 'some', STORM: name },
    ...(count === undefined ? {} : { STORM_COUNT: count, STORM_PART: part }),
    ...(seed === undefined ? {} : { STORM_SEED: seed }),
  }
  const { also = [], ...first } = campaigns[name]
  const runs = [first, ...also].map((one) => ({ ...one, files: one.files.map(fileOf) }))
  for (const one of files.length > 0 ? [{ ...first, files }] : runs)
    worst = Math.max(worst, run(bin('vitest'), ['run', ...one.files], { ...env, ...one.env }))
}
if (chosen.some(({ name }) => name === 'report')) report()
process.exit(worst)

/** The file of a folder in which a mode is played. */
function fileOf(folder) {
  return mode === undefined ? folder : `${folder}/${mode}.test.ts`
}

/** `--seed N` and `--mode M` choose one run; everything else is a campaign, a file or a folder. */
function takeOptions(given) {
  const taken = { words: [] }
  for (let at = 0; at < given.length; at++) {
    const [, name, value] = /^--(seed|mode)(?:=(.*))?$/.exec(given[at]) ?? []
    if (name === undefined) taken.words.push(given[at])
    else taken[name] = value ?? given[++at]
  }
  return taken
}
