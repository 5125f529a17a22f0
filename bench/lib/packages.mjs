/** npm packages of peers: one that cannot be loaded is a peer less, not a failed run. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(import.meta.url)

/** Why a package cannot be used, or undefined. */
export async function missingPackage(name) {
  try {
    await import(name)
    return undefined
  } catch (error) {
    return `the npm package ${name} does not load on Node ${process.version}: ${String(error?.message ?? error).split('\n')[0]}`
  }
}

/** The installed version of a package. */
export function packageVersion(name) {
  for (const dir of require.resolve.paths(name) ?? []) {
    try {
      return JSON.parse(readFileSync(join(dir, name, 'package.json'), 'utf8')).version
    } catch {
      // Not in this one.
    }
  }
  return undefined
}
