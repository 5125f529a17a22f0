// Builds the console into dist/console/. Names carry a hash of what is in the file, so that the hub can let
// browsers keep them for ever; old ones stay until a full build, because an open page may still ask for them.
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

export async function buildConsole({ clean = true } = {}) {
  await build({
    configFile: false,
    root: `${root}/console`,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: `${root}/dist/console`,
      emptyOutDir: clean,
      target: 'es2022',
      // The page's own policy refuses data: in scripts and styles; every asset is a file.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildConsole()
