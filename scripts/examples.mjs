// npm run examples: builds, then plays every example in a process of its own.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const root = new URL('..', import.meta.url).pathname
const notStories = ['mock-agent.mjs', 'stage.mjs']
const wanted = process.argv.slice(2)

const { status } = spawnSync('node', ['scripts/build.mjs', '--no-types'], { cwd: root, stdio: 'inherit' })
if (status !== 0) process.exit(1)

const stories = readdirSync(`${root}/examples`)
  .filter((file) => file.endsWith('.mjs') && !notStories.includes(file))
  .filter((file) => wanted.length === 0 || wanted.includes(file.replace(/\.mjs$/, '')))
  .sort()

let failed = 0
for (const story of stories) {
  const began = performance.now()
  const ran = spawnSync(process.execPath, [`${root}/examples/${story}`], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  const isFine = ran.status === 0
  if (!isFine) failed++
  const said = ran.stdout.trim().split('\n').join('; ')
  console.log(`${isFine ? 'passed' : 'FAILED'}  ${story.padEnd(16)} ${seconds} s  ${said}`)
  if (!isFine) console.error(ran.stderr.trim())
}
console.log(`${stories.length - failed} passed, ${failed} failed`)
process.exit(failed > 0 || stories.length === 0 ? 1 : 0)
