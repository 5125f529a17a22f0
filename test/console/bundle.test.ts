import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Stage } from './stage.ts'

const built = new URL('../../dist/console/', import.meta.url).pathname
const gzipped = (file: string): number => gzipSync(readFileSync(join(built, file))).length

/** The files a browser loads before it shows anything: the entry, and what the entry cannot do without. */
function entryScripts(): string[] {
  const page = readFileSync(join(built, 'index.html'), 'utf8')
  const found = new Set([...page.matchAll(/"\/(assets\/[^"]+\.js)"/g)].map((match) => match[1]!))
  for (const file of found) {
    const text = readFileSync(join(built, file), 'utf8')
    for (const match of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) found.add(`assets/${match[1]}`)
  }
  return [...found]
}

/** Every file that the page can come to, from its own page on; an earlier build may have left others. */
function allFiles(): string[] {
  const found = new Set(['index.html', 'icon.svg'])
  const names = readdirSync(join(built, 'assets'))
  for (const file of found) {
    const text = readFileSync(join(built, file), 'utf8')
    for (const name of names) if (text.includes(name)) found.add(`assets/${name}`)
  }
  return [...found]
}

describe('what is sent to the browser', () => {
  it('is small', () => {
    const entry = entryScripts().reduce((sum, file) => sum + gzipped(file), 0)
    const all = allFiles().reduce((sum, file) => sum + gzipped(file), 0)
    console.log(`entry ${(entry / 1_000).toFixed(1)} kB, all ${(all / 1_000).toFixed(1)} kB gzipped`)
    expect(entry).toBeLessThanOrEqual(60_000)
    expect(all).toBeLessThanOrEqual(250_000)
  })

  it('loads charts and Markdown only when they are shown', () => {
    const entry = entryScripts()
      .map((file) => readFileSync(join(built, file), 'utf8'))
      .join('\n')
    for (const word of ['DOMPurify', 'uPlot', 'blockquote>']) expect(entry).not.toContain(word)
  })

  it('comes with a policy that lets nothing else in', async () => {
    const stage = await Stage.open()
    try {
      const { headers } = await fetch(`${stage.url}/threads/anything.js`)
      const policy = headers.get('content-security-policy')!.split('; ')
      for (const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
      ])
        expect(policy).toContain(rule)
      expect(policy).toContain("require-trusted-types-for 'script'")
      expect(policy).toContain('trusted-types dompurify')
    } finally {
      await stage.close()
    }
  })
})
