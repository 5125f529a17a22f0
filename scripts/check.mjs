// npm run check: everything that can be said about the code, in the order of what is quickest to say.
import { spawnSync } from 'node:child_process'

const root = new URL('..', import.meta.url).pathname
const bin = (name) => `${root}/node_modules/.bin/${name}`
const steps = [
  ['types', bin('tsc'), ['-p', '.']],
  ['types of the console', bin('tsc'), ['-p', 'console']],
  ['types of its tests', bin('tsc'), ['-p', 'test/console']],
  ['format and lint', bin('biome'), ['check', '.']],
  ['promises', bin('oxlint'), ['--type-aware', 'src', 'test', 'console']],
  ['build', 'node', ['scripts/build.mjs']],
  ['unused code', bin('knip'), []],
  ['package', bin('publint'), ['--strict']],
  ...(process.argv.includes('--no-tests') ? [] : [['tests', 'node', ['scripts/test.mjs']]]),
]
for (const [name, command, args] of steps) {
  console.log(`\n== ${name}`)
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`\n${name}: failed`)
    process.exit(1)
  }
}
