import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { built, builtFiles, entryScripts } from './built.ts'
import { Stage } from './stage.ts'

const textOf = (file: string): string => readFileSync(join(built, file), 'utf8')
const gzipped = (file: string): number => gzipSync(textOf(file)).length

describe('what is sent to the browser', () => {
  it('is small', () => {
    const entry = entryScripts().reduce((sum, file) => sum + gzipped(file), 0)
    const all = builtFiles().reduce((sum, file) => sum + gzipped(file), 0)
    console.log(`entry ${(entry / 1_000).toFixed(1)} kB, all ${(all / 1_000).toFixed(1)} kB gzipped`)
    expect(entry).toBeLessThanOrEqual(60_000)
    expect(all).toBeLessThanOrEqual(250_000)
  })

  it('shows the first page without charts and Markdown', () => {
    const entry = entryScripts().map(textOf).join('\n')
    for (const word of ['DOMPurify', 'uPlot', 'blockquote>']) expect(entry).not.toContain(word)
  })

  it('comes with a policy that blocks everything else', async () => {
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
