// Bundles the library and the command line into dist/, and writes the type declarations beside them.
// Bundling is for start-up: a hook lives 50 ms, and every file it opens counts.
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { rolldown } from 'rolldown'

const root = new URL('..', import.meta.url).pathname
const types = !process.argv.includes('--no-types')
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))

if (types) rmSync(`${root}/dist`, { recursive: true, force: true })
const bundle = await rolldown({
  cwd: root,
  input: { mod: 'src/mod.ts', cli: 'src/cli/main.ts' },
  platform: 'node',
  external: ['libsql'],
  transform: { define: { __VERSION__: JSON.stringify(version) }, target: 'node20' },
})
await bundle.write({
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  minify: 'dce-only',
  sourcemap: true,
})
await bundle.close()
chmodSync(`${root}/dist/cli.js`, 0o755)
if (types)
  execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.types.json'], { cwd: root, stdio: 'inherit' })
