import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  dirForAddress,
  linkTo,
  mustNotBeMoved,
  originOf,
  putAside,
  unlink,
} from '../../src/journal/copy/origin.ts'
import { parseAddress } from '../../src/journal/postgres/address.ts'
import { refusal } from '../helpers/refusal.ts'
import { tempDir } from '../helpers/temp.ts'

const text = 'postgres://ada@db.example/mail?space=team'
const address = parseAddress(text)
const originFile = (dir: string) => join(dir, 'origin.json')

it('a directory leads to the database that it was linked to, until it is unlinked', () => {
  const dir = join(tempDir(), 'new', 'space')
  expect(originOf(tempDir(), {})).toBeUndefined()
  linkTo(address, dir)
  expect(statSync(dir).mode & 0o777).toBe(0o700)
  expect(readFileSync(originFile(dir), 'utf8')).toBe(`{\n  "address": "${text}"\n}\n`)
  expect(originOf(dir, {})).toEqual(address)
  unlink(dir)
  expect(originOf(dir, {})).toBeUndefined()
  unlink(dir)
})

it('a link that is there already is not written again, and another one is', () => {
  const dir = tempDir()
  linkTo(address, dir)
  const { ino } = statSync(originFile(dir))
  linkTo(address, dir)
  expect(statSync(originFile(dir)).ino).toBe(ino)
  linkTo(parseAddress(text.replace('team', 'other')), dir)
  expect(originOf(dir, {})?.space).toBe('other')
})

it('the password of the environment is for its own address only', () => {
  const dir = tempDir()
  linkTo(address, dir)
  const named = (name: string) => originOf(dir, { MAILBOX_SPACE: name })!.connection
  expect(named(text.replace('ada@', 'ada:hush@'))).toContain('hush')
  expect(named(text.replace('ada@', 'ada:hush@').replace('team', 'other'))).not.toContain('hush')
  expect(named('/home/ada/space')).toBe(address.connection)
  expect(named('')).toBe(address.connection)
})

it('a link without an address is damaged, and says how to go on', () => {
  const dir = tempDir()
  for (const content of ['{}', '{"address":7}']) {
    writeFileSync(originFile(dir), content)
    const { code, message, hint } = refusal(() => originOf(dir, {}))
    expect([code, hint?.includes('--space postgres://')]).toEqual(['damaged', true])
    expect(message).toBe(`${originFile(dir)} has no address in it`)
  }
})

it('whoever has a space open that was moved is told where it is', () => {
  const dir = tempDir()
  mustNotBeMoved(dir)
  linkTo(address, dir)
  const { code, message } = refusal(() => mustNotBeMoved(dir))
  expect([code, message]).toEqual(['damaged', `the space in ${dir} was moved to ${text}`])
})

it('a space that is named by its address has a directory of its own on this machine', () => {
  const cache = tempDir()
  const dir = dirForAddress(address, { XDG_CACHE_HOME: cache })
  expect(dir.startsWith(join(cache, 'agent-mailbox', 'postgres', 'team-'))).toBe(true)
  expect(originOf(dir, {})).toEqual(address)
  expect(dirForAddress(address, { XDG_CACHE_HOME: cache })).toBe(dir)
})

it('a copy that is put aside keeps its archive', () => {
  const dir = tempDir()
  const now = Date.parse('2026-03-04T05:06:07.890Z')
  mkdirSync(join(dir, 'journal'))
  writeFileSync(join(dir, 'journal', 'x'), 'lines')
  const aside = putAside(dir, now)
  expect(aside).toBe(join(dir, 'journal-2026-03-04T05-06-07.890Z'))
  expect(readdirSync(dir)).toEqual(['journal-2026-03-04T05-06-07.890Z'])
  expect(readFileSync(join(aside, 'x'), 'utf8')).toBe('lines')
  mkdirSync(join(dir, 'journal'))
  mkdirSync(join(dir, 'archive'))
  writeFileSync(join(dir, 'archive', 'y'), 'old')
  putAside(dir, now + 1)
  expect(readFileSync(join(dir, 'archive-2026-03-04T05-06-07.891Z', 'y'), 'utf8')).toBe('old')
  expect(existsSync(join(dir, 'archive'))).toBe(false)
})
