import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { clientSetups, dialects } from '../../src/clients/registry.ts'
import { clients } from '../../src/model/client.ts'

const dist = fileURLToPath(new URL('../../dist', import.meta.url))

it('describes every client to hooks and to init', () => {
  expect(Object.keys(dialects)).toEqual([...clients])
  for (const name of clients) expect(dialects[name].client).toBe(name)
  expect(clientSetups.map(({ name }) => name)).toEqual([...clients])
})

it('leaves everything that edits settings out of what a hook loads', () => {
  const [, chunk] = /chunks\/(run-[\w-]+\.cjs)/.exec(readFileSync(`${dist}/hook.cjs`, 'utf8'))!
  const { sources } = JSON.parse(readFileSync(`${dist}/chunks/${chunk}.map`, 'utf8')) as { sources: string[] }
  expect(sources.some((path) => path.endsWith('clients/registry.ts'))).toBe(true)
  expect(sources.filter((path) => /setup|jsonc-parser|smol-toml/.test(path))).toEqual([])
})
