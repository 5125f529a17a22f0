// npm run check: everything that is checked before a change lands, the quickest first. Each thing is done once.
import { bin, run } from './run.mjs'

const steps = [
  ['types', bin('tsc'), ['-p', '.']],
  ['types of the console', bin('tsc'), ['-p', 'console']],
  ['types of the console tests', bin('tsc'), ['-p', 'test/console']],
  ['format and lint', bin('biome'), ['check', '.']],
  ['promises', bin('oxlint'), ['--type-aware', 'src', 'test', 'console']],
  ['build', process.execPath, ['scripts/build.mjs']],
  ['unused code', bin('knip'), []],
  ['package', bin('publint'), ['--strict']],
  ...(process.argv.includes('--no-tests')
    ? []
    : [['tests', process.execPath, ['scripts/test.mjs', '--built']]]),
]
for (const [name, command, args] of steps) {
  console.log(`\n== ${name}`)
  const began = performance.now()
  if (run(command, args) !== 0) {
    console.error(`\n${name}: failed`)
    process.exit(1)
  }
  // The tests end with their own last line.
  if (name !== 'tests') console.log(`${((performance.now() - began) / 1_000).toFixed(1)} s`)
}
