import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readJsonIfAny, streamFileAtomically, writeFileAtomically } from '../../src/base/files.ts'
import { tempDir } from '../helpers/temp.ts'

test('a file is replaced as a whole, private unless told otherwise, and nothing is left beside it', () => {
  const dir = tempDir()
  const path = join(dir, 'settings.json')
  writeFileAtomically(path, '{"a":1}')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const before = statSync(path).ino
  writeFileAtomically(path, '{"a":2}', { mode: 0o644, modifiedMs: 1_000_000 })
  expect(readJsonIfAny(path)).toEqual({ a: 2 })
  expect(statSync(path).ino).not.toBe(before)
  expect(statSync(path).mode & 0o777).toBe(0o644)
  expect(statSync(path).mtimeMs).toBe(1_000_000)
  expect(readdirSync(dir)).toEqual(['settings.json'])
})

test('the old file stays when the new one is refused at the last moment', async () => {
  const dir = tempDir()
  const path = join(dir, 'settings.json')
  writeFileAtomically(path, 'old')
  const refuse = () => {
    throw new Error('changed meanwhile')
  }
  expect(() => writeFileAtomically(path, 'new', { beforeRename: refuse })).toThrow('changed meanwhile')
  await expect(streamFileAtomically(path, async (file) => refuse() ?? void file)).rejects.toThrow(
    'changed meanwhile',
  )
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(dir)).toEqual(['settings.json'])
})

test('what a killed process with our pid left is replaced and never followed', () => {
  const dir = tempDir()
  const path = join(dir, 'settings.json')
  const elsewhere = join(dir, 'elsewhere')
  writeFileSync(elsewhere, 'precious')
  symlinkSync(elsewhere, `${path}.${process.pid}.tmp`)
  writeFileAtomically(path, 'new')
  expect(readFileSync(elsewhere, 'utf8')).toBe('precious')
  expect(readFileSync(path, 'utf8')).toBe('new')
})

test('a directory that cannot be written gives an error and keeps the old file', () => {
  const dir = tempDir()
  const path = join(dir, 'gone', 'settings.json')
  expect(() => writeFileAtomically(path, 'new')).toThrow(/ENOENT/)
  expect(existsSync(path)).toBe(false)
})

test('a file that is missing or broken is none', () => {
  const dir = tempDir()
  expect(readJsonIfAny(join(dir, 'none'))).toBeUndefined()
  writeFileSync(join(dir, 'broken'), '{"a":')
  expect(readJsonIfAny(join(dir, 'broken'))).toBeUndefined()
})
