// What the scripts share: run a program in the repository and show its output.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
export const bin = (name) => `${root}node_modules/.bin/${name}`

/** Runs a program to its end and gives its exit status. */
export function run(command, args, env = {}) {
  const options = { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }
  return spawnSync(command, args, options).status ?? 1
}

/** Ends this process unless the status is 0. */
export function orExit(status) {
  if (status !== 0) process.exit(status)
}
