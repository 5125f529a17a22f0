// npm run storm: the long versions of the tests. Each test that has one reads STORM.
//   npm run storm                      every campaign
//   npm run storm -- test/crash        only the campaigns in these files or folders
import { bin, orExit, run } from './run.mjs'

/** Each campaign by its name: the tests it runs, and what they are told. `npm run storm -- --NAME` runs one. */
const campaigns = {
  long: {
    files: [
      'test/crash',
      'test/index',
      'test/property',
      'test/race',
      'test/agent/team',
      'test/life',
      'test/clients/hook',
      'test/clients/setup',
      'test/tmux',
    ],
    env: { STORM: '1', TEST_RUN: 'some' },
  },
  // Every bit and byte of a small space, flipped one by one.
  damage: {
    files: ['test/index/flips.test.ts'],
    env: { STORM: '1', TEST_RUN: 'some' },
  },
}

const words = process.argv.slice(2)
const chosen = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
const files = words.filter((word) => !word.startsWith('--'))
const unknown = chosen.filter((name) => !(name in campaigns))
if (unknown.length > 0) {
  console.error(
    `storm: no campaign named ${unknown.join(', ')}; there are: ${Object.keys(campaigns).join(', ')}`,
  )
  process.exit(2)
}

orExit(run(process.execPath, ['scripts/build.mjs', '--no-types']))
let worst = 0
for (const name of chosen.length > 0 ? chosen : Object.keys(campaigns)) {
  console.log(`\n== ${name}`)
  const { files: all, env } = campaigns[name]
  worst = Math.max(worst, run(bin('vitest'), ['run', ...(files.length > 0 ? files : all)], env))
}
process.exit(worst)
