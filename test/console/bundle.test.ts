import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { built, builtFiles, entryScripts } from './built.ts'

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
})
