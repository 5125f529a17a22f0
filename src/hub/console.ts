import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { Readable } from 'node:stream'
import { getMimeType } from 'hono/utils/mime'

/** Nothing from other hosts, only our own scripts and styles, and no text becomes markup unchecked. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify',
].join('; ')

/** Sent with every response. */
export const securityHeaders = {
  'content-security-policy': contentPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

const missing = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>agent-mailbox</title>
<h1>The hub is running, but the console is not built</h1>
<p>The console's files are missing. In a checkout, run <code>npm run build</code>.</p>
<p>The API works: <a href="/health">/health</a>, /api/openapi.json (with the token).</p>
</html>
`

/** Longer than those of the console. The system refuses one that is much too long. */
const longestPath = 200

/** The files of the console. Every address of a view serves the same page. */
export class ConsoleFiles {
  readonly #dir: string | undefined

  constructor(dir: string | undefined) {
    this.#dir = dir
  }

  /** A file in the console's folder, if there is one. */
  file(path: string): Response | undefined {
    const inside = normalize(path)
    if (this.#dir === undefined || /\0|\.\./.test(inside) || !inside.startsWith('/')) return undefined
    const file = join(this.#dir, inside)
    const stat = inside.length > longestPath ? undefined : statSync(file, { throwIfNoEntry: false })
    if (!stat?.isFile()) return undefined
    // Their names contain a hash of their content.
    const isHashed = path.startsWith('/assets/')
    return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream, {
      headers: {
        'content-type': getMimeType(file) ?? 'application/octet-stream',
        'content-length': String(stat.size),
        'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    })
  }

  /** The page itself. */
  page(): Response {
    const index = this.#dir === undefined ? undefined : join(this.#dir, 'index.html')
    const isThere = index !== undefined && existsSync(index)
    return new Response(isThere ? readFileSync(index) : missing, {
      status: isThere ? 200 : 503,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
    })
  }
}
