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

/**
 * `import()` of what is no part of a bundle, for one that is loaded with its compiled code (base/code-cache.ts). The rest of
 * such a line is a few characters off in the map.
 */
const ownImport = {
  name: 'own-import',
  renderChunk: (code) => code.replace(/(?<![\w$.'"`])import\(/g, 'require.import('),
}

/**
 * The SQLite driver as a part of a bundle, without what it loads to find its native library: a command that opens a space
 * would take a tenth longer. The library itself stays in its package, which need not be visible from here.
 */
const ownDriver = {
  name: 'own-driver',
  resolveId: (source) =>
    source === '@neon-rs/load' || source === 'detect-libc' ? `${root}src/base/driver-target.ts` : undefined,
  transform(code, id) {
    if (id.endsWith('/src/base/sqlite.ts'))
      return replaced(
        code,
        "withShortReport(() => createRequire(import.meta.url)('libsql') as typeof Libsql)",
        "require('libsql')",
      )
    if (id.endsWith('/libsql/index.js')) return replaced(code, 'return require(`', 'return load(`')
    return undefined
  },
}

function replaced(code, what, by) {
  const found = code.replace(what, by)
  if (found === code) throw new Error(`there is no ${what} to replace`)
  return found
}

async function bundle(
  input,
  format,
  ending,
  {
    minify = format === 'cjs',
    define = { __AGE__: '"age.js"' },
    groups = [],
    plugins = [],
    external = ['libsql', 'pg'],
    pure = [],
  } = {},
) {
  const built = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    plugins,
    external,
    // Its CommonJS form hides its imports from a bundler.
    resolve: {
      alias: {
        'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
        '@noble/post-quantum/hybrid.js': `${root}/scripts/unused-by-age.mjs`,
        '@noble/curves/nist.js': `${root}/scripts/unused-by-age.mjs`,
      },
    },
    // The library names everything it exports; the command line loads the same files when it needs them.
    checks: { ineffectiveDynamicImport: false, sourcemapBroken: false },
    // Importing one of these does nothing by itself, so the hook's bundle can leave them out.
    treeshake: {
      moduleSideEffects: [/node_modules\/(jsonc-parser|smol-toml)\//, ...pure].map((test) => ({
        test,
        sideEffects: false,
      })),
    },
    transform: { define: { __VERSION__: JSON.stringify(version), ...define }, target: 'node20' },
  })
  const { output } = await built.write({
    dir: 'dist',
    format,
    entryFileNames: `[name].${ending}`,
    chunkFileNames: `chunks/[name]-[hash].${ending}`,
    codeSplitting: { groups },
    // The library keeps the names of its functions and classes, for stack traces.
    minify: minify || { compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
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
// What is started only loads the program, with the compiled code of earlier runs.
await bundle({ cli: 'src/cli/main.ts' }, 'cjs', 'cjs')
await bundle({ hook: 'src/clients/hook/main.ts' }, 'cjs', 'cjs')
// What most commands of agents need when there is a desk, and nothing else.
for (const verbs of ['mail', 'steps'])
  await bundle({ [`brief-${verbs}`]: `src/cli/brief/${verbs}.ts` }, 'cjs', 'cjs', {
    plugins: [ownImport],
    pure: [/\/src\//, /node_modules\/commander\//],
  })
// A group is one file: to open many costs more than to read what is not needed. In order: what both programs need to ask a
// desk, the hook, the command line, and what opens a space.
await bundle({ program: 'src/cli/program.ts', 'run-hook': 'src/clients/hook/run.ts' }, 'cjs', 'cjs', {
  plugins: [ownDriver, ownImport],
  external: ['pg'],
  groups: [
    {
      name: 'common',
      test: /src\/(space\/(desk\/(seat|mailbox)-at-desk|mailbox\/attachments|place|logins)|conversation\/registry|agent\/(briefing|subagent)|base\/nearest|model\/(time|unreadable|shape|check-fields|text))\.ts$/,
      priority: 4,
    },
    { name: 'hook', test: /src\/clients\/hook\/run\.ts$/, priority: 3 },
    { name: 'brief', test: /src\/cli\/(program|verbs\/(send|handle|inbox))\.ts$/, priority: 2 },
    { name: 'whole', test: /src\/(space\/(open|acting|head)|cli\/progress)\.ts$/, priority: 1 },
  ],
})
for (const file of ['hook/hook.sh', 'opencode/opencode-plugin.js'])
  copyFileSync(`${root}/src/clients/${file}`, `${root}/dist/${file.split('/').at(-1)}`)
for (const program of ['cli.cjs', 'hook.sh']) chmodSync(`${root}/dist/${program}`, 0o755)
for (const id of await buildConsole({ clean: types })) modules.add(id)
writeFileSync(`${root}/dist/THIRD_PARTY_NOTICES.txt`, noticesFor(modules))
if (types) {
  execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.types.json'], { cwd: root, stdio: 'inherit' })
  pruneTypes(`${root}dist/types`, 'mod.d.ts')
}
