// Builds the console into dist/console/. File names contain a hash of their content, so browsers may cache them
// indefinitely. Old files stay until a full build, because an open page may still request them.
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Builds, and gives the ids of the modules that are in the console. */
export async function buildConsole({ clean = true } = {}) {
  const { output } = await build({
    configFile: false,
    root: `${root}/console`,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: `${root}/dist/console`,
      emptyOutDir: clean,
      target: 'es2022',
      // The content security policy blocks data: URLs in scripts and styles, so every asset is a file.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  })
  return output.flatMap(({ moduleIds = [] }) => moduleIds)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildConsole()
