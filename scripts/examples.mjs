// npm run examples: builds, then plays every example in a process of its own. With names, only those; with --hub
// through a hub.
import { spawnSync } from 'node:child_process'
import { filesOnly, stories } from '../examples/stories.mjs'

const root = new URL('..', import.meta.url).pathname
const wanted = process.argv.slice(2).filter((word) => word !== '--hub')
const env = { ...process.env, ...(process.argv.includes('--hub') ? { EXAMPLES_OVER: 'hub' } : {}) }

const { status } = spawnSync('node', ['scripts/build.mjs', '--no-types'], { cwd: root, stdio: 'inherit' })
if (status !== 0) process.exit(1)

const chosen = stories.filter(
  (story) =>
    (wanted.length === 0 || wanted.includes(story)) &&
    !(env.EXAMPLES_OVER === 'hub' && filesOnly.includes(story)),
)

let failed = 0
for (const story of chosen) {
  const began = performance.now()
  const ran = spawnSync(process.execPath, [`${root}/examples/${story}.mjs`], {
    encoding: 'utf8',
    timeout: 120_000,
    env,
  })
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  const isFine = ran.status === 0
  if (!isFine) failed++
  const said = ran.stdout.trim().split('\n').join('; ')
  console.log(`${isFine ? 'passed' : 'FAILED'}  ${story.padEnd(32)} ${seconds} s  ${said}`)
  if (!isFine) console.error(ran.stderr.trim())
}
console.log(`${chosen.length - failed} passed, ${failed} failed`)
process.exit(failed > 0 || chosen.length === 0 ? 1 : 0)
