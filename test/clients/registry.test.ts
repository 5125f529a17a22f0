import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { dialects } from '../../src/clients/hook/dialects.ts'
import { clientSetups } from '../../src/clients/registry.ts'
import { clients } from '../../src/model/client.ts'

const dist = fileURLToPath(new URL('../../dist', import.meta.url))

it('describes every client to hooks and to init', () => {
  expect(Object.keys(dialects)).toEqual([...clients])
  for (const name of clients) expect(dialects[name].client).toBe(name)
  expect(clientSetups.map(({ name }) => name)).toEqual([...clients])
})

/** The sources of the files that one is made of: its own, and those of what it loads at once. */
function sourcesOf(file: string): string[] {
  const text = readFileSync(`${dist}/${file}`, 'utf8')
  const map = `${dist}/${file}.map`
  // One that only passes on what another has, has none.
  const { sources } = (existsSync(map) ? JSON.parse(readFileSync(map, 'utf8')) : { sources: [] }) as {
    sources: string[]
  }
  const loaded = [...text.matchAll(/(?:const|,)\s?\w+=require\("\.\/(?:chunks\/)?([\w-]+\.cjs)"\)/g)]
  return [...sources, ...loaded.flatMap(([, name]) => sourcesOf(`chunks/${name}`))]
}

it('leaves everything that edits settings or opens a space out of what a hook loads', () => {
  const sources = sourcesOf('run-hook.cjs')
  expect(sources.some((path) => path.endsWith('clients/hook/dialects.ts'))).toBe(true)
  expect(sources.some((path) => path.endsWith('space/desk/seat-at-desk.ts'))).toBe(true)
  const unwanted = /setup|jsonc-parser|smol-toml|commander|zod|src\/index\/|journal\/file/
  expect(sources.filter((path) => unwanted.test(path))).toEqual([])
})
