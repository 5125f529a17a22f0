import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { maxPackedBytes, pack, tryPackage } from '../../scripts/package-check.mjs'
import { skipTest } from '../helpers/skip.ts'
import { tempDir } from '../helpers/temp.ts'

const root = new URL('../..', import.meta.url).pathname
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

/** npm fetches the one package that is not bundled; it may have no way to. */
const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED/

it('is small, installs into an empty folder and works there', { timeout: 180_000 }, async () => {
  const dir = tempDir()
  const { file, bytes, paths } = pack(root, dir)
  expect(bytes).toBeLessThan(maxPackedBytes)
  expect(paths.filter((path) => path.endsWith('.map'))).toEqual([])
  expect(paths).toContain('dist/THIRD_PARTY_NOTICES.txt')
  console.log(`package: ${(bytes / 1_000).toFixed(0)} kB in ${paths.length} files`)
  try {
    expect(await tryPackage(file, dir)).toBe(version)
  } catch (problem) {
    const why = String((problem as { stderr?: Buffer }).stderr ?? '')
    if (offline.test(why)) skipTest(`needs npm to reach its registry: ${why.trim().split('\n')[0]}`)
    throw problem
  }
})

/** Packages that our code imports by name, in a folder of sources. */
function importedIn(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  )
  return files.flatMap((file) => {
    const text = readFileSync(join(root, folder, file), 'utf8')
    const found = text.matchAll(
      /^(?:import|export) (?!type )[^'"]*?from '([@a-z][^']*)'$|[^f] import\('([@a-z][^']*)'\)/gm,
    )
    return [...found].map((match) => match[1] ?? match[2]!)
  })
}

it('gives notice of every package whose code is in it', () => {
  const notices = readFileSync(join(root, 'dist/THIRD_PARTY_NOTICES.txt'), 'utf8').split(/\n-{78}\n/)
  const noticed = new Map(notices.slice(1).map((text) => [text.trim().split(' ')[0]!, text.trim()]))
  const packages = [...importedIn('src'), ...importedIn('console/src')]
    .filter((name) => !name.startsWith('node:'))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    )
  // The drivers are packages of their own and bring their own licenses.
  const bundled = [...new Set(packages)].filter((name) => !['libsql', 'pg'].includes(name))
  expect(bundled.length).toBeGreaterThan(15)
  expect(bundled.filter((name) => !noticed.has(name))).toEqual([])
  // What those bring with them is in it as well.
  for (const name of ['@modelcontextprotocol/core', 'sonic-boom', 'd3-quadtree', 'preact']) {
    expect(noticed.has(name), name).toBe(true)
  }
  for (const [name, text] of noticed) {
    expect(text, name).toMatch(/^License: \S+/m)
    expect(text, name).toMatch(/copyright|unlicense/i)
  }
})
