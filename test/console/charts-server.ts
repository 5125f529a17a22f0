import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { build } from 'vite'

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
}
/** As strict as the hub's policy. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"

/** Builds the charts page as the console is built, and serves it as the hub does. */
export async function serveCharts(): Promise<{ url: string; close: () => Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-charts-'))
  await build({
    root: new URL('charts-page', import.meta.url).pathname,
    configFile: false,
    logLevel: 'error',
    base: './',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: { outDir: dir, emptyOutDir: true, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  })
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://here').pathname
    const file = join(dir, path === '/' ? 'index.html' : path)
    try {
      const content = readFileSync(file)
      response.writeHead(200, {
        'content-type': types[extname(file)] ?? 'text/plain',
        'content-security-policy': policy,
      })
      response.end(content)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      await new Promise((resolve) => server.close(resolve))
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
