// Bundles the library and the command line into dist/, and writes the type declarations beside them.
// Bundling is for start-up: a hook lives 50 ms, and every file it opens counts. For the same reason the
// command line is CommonJS: Node's loader of modules takes 20 ms longer over the same code; and minified:
// half the text is half the time to compile it.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { buildConsole } from './build-console.mjs'
import { noticesFor } from './notices.mjs'
import { pruneTypes } from './prune-types.mjs'

const root = new URL('..', import.meta.url).pathname
const types = !process.argv.includes('--no-types')
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))

/** Every module that ends up in one of the bundles. */
const modules = new Set()

async function bundle(
  input,
  format,
  ending,
  { minify = format === 'cjs', define = { __AGE__: '"age.js"' } } = {},
) {
  const built = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external: ['libsql', 'pg'],
    // Its CommonJS form hides its imports from a bundler.
    resolve: {
      alias: {
        'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
        '@noble/post-quantum/hybrid.js': `${root}/scripts/unused-by-age.mjs`,
        '@noble/curves/nist.js': `${root}/scripts/unused-by-age.mjs`,
      },
    },
    // The library names everything it exports; the command line loads the same files when it needs them.
    checks: { ineffectiveDynamicImport: false },
    // Importing one of these does nothing by itself, so the hook's bundle can leave them out.
    treeshake: {
      moduleSideEffects: [{ test: /node_modules\/(jsonc-parser|smol-toml)\//, sideEffects: false }],
    },
    transform: { define: { __VERSION__: JSON.stringify(version), ...define }, target: 'node20' },
  })
  const { output } = await built.write({
    dir: 'dist',
    format,
    entryFileNames: `[name].${ending}`,
    chunkFileNames: `chunks/[name]-[hash].${ending}`,
    // The library keeps its names, for stack traces.
    minify: minify || { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    // For `node --enable-source-maps` in development; the package leaves them out.
    sourcemap: true,
  })
  for (const { moduleIds = [] } of output) for (const id of moduleIds) modules.add(id)
  await built.close()
}

// A fast build leaves old chunks: processes of a running test may still be loading them.
if (types) rmSync(`${root}/dist`, { recursive: true, force: true })
await bundle({ mod: 'src/mod.ts', 'index-worker': 'src/index/worker.ts' }, 'esm', 'js')
// Once for all of them: it is large, and few processes need it.
await bundle({ age: 'src/base/age.ts' }, 'esm', 'js', { minify: true, define: {} })
await bundle({ cli: 'src/cli/main.ts' }, 'cjs', 'cjs')
// By itself, so that it finds everything in one file: it is what runs most.
await bundle({ hook: 'src/clients/hook/main.ts' }, 'cjs', 'cjs')
for (const file of ['hook/hook.sh', 'opencode/opencode-plugin.js'])
  copyFileSync(`${root}/src/clients/${file}`, `${root}/dist/${file.split('/').at(-1)}`)
for (const program of ['cli.cjs', 'hook.sh']) chmodSync(`${root}/dist/${program}`, 0o755)
for (const id of await buildConsole({ clean: types })) modules.add(id)
writeFileSync(`${root}/dist/THIRD_PARTY_NOTICES.txt`, noticesFor(modules))
if (types) {
  execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.types.json'], { cwd: root, stdio: 'inherit' })
  pruneTypes(`${root}dist/types`, 'mod.d.ts')
}
