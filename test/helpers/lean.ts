import { mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Bundles a script with only what it uses of src/, as the command line is bundled, and gives the file: a campaign
 * starts it thousands of times, and a fifth of a start is loading. Gone with the test.
 */
export async function bundleLean(script: URL): Promise<URL> {
  // Below the repository, where it finds the packages that are not bundled.
  const dir = mkdtempSync(join(root, 'node_modules', '.lean-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const path = fileURLToPath(script)
  const name = basename(path, '.ts')
  const built = await rolldown({
    cwd: root,
    input: { [name]: path },
    platform: 'node',
    external: ['libsql'],
    checks: { ineffectiveDynamicImport: false },
    transform: { target: 'node20' },
  })
  await built.write({
    dir,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    minify: true,
  })
  await built.close()
  return pathToFileURL(join(dir, `${name}.cjs`))
}
