// npm test: builds (processes in tests run the built command line), then runs every test.
import { spawnSync } from 'node:child_process'

const root = new URL('..', import.meta.url).pathname
const storm = process.argv.includes('--storm')
const rest = process.argv.slice(2).filter((word) => word !== '--storm')
const run = (command, args, env = {}) =>
  spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1

let status = run('node', ['scripts/build.mjs'])
if (status === 0) {
  const only = storm && rest.length === 0 ? ['test/crash', 'test/index', 'test/property'] : rest
  status = run('node_modules/.bin/vitest', ['run', ...only], storm ? { STORM: '1' } : {})
}
process.exit(status)
