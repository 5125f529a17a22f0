// npm test: builds (processes in tests run the built command line), then runs every test.
//   npm test -- test/space       only these files or folders
//   npm run test:quick           the subset for daily work (test/helpers/quick.ts)
//   --built                      what is in dist/ is up to date
import { bin, orExit, root, run } from './run.mjs'

const flags = ['--built', '--quick']
const words = process.argv.slice(2)
const has = (flag) => words.includes(flag)
const rest = words.filter((word) => !flags.includes(word))

// The quick subset needs neither type declarations nor a clean folder.
if (!has('--built'))
  orExit(run(process.execPath, ['scripts/build.mjs', ...(has('--quick') ? ['--no-types'] : [])]))
const what = has('--quick') ? 'quick' : rest.length === 0 ? 'all' : 'some'
process.exit(run(bin('vitest'), ['run', '--root', root, ...rest], { TEST_RUN: what }))
