// Declarations of modules that the library does not show stay out of the package: most of them are rims, and those of
// tables with schemas are large.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const specifier = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/** Removes every declaration below `dir` that cannot be reached from `entry`. */
export function pruneTypes(dir, entry) {
  const reached = new Set()
  const visit = (file) => {
    if (reached.has(file)) return
    if (!existsSync(file)) throw new Error(`there are no declarations for ${file}`)
    reached.add(file)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(specifier))
      visit(resolve(dirname(file), path.replace(/\.(?:d\.)?[tj]s$/, '.d.ts')))
  }
  visit(join(dir, entry))
  for (const name of readdirSync(dir, { recursive: true }))
    if (name.endsWith('.d.ts') && !reached.has(join(dir, name))) rmSync(join(dir, name))
}
