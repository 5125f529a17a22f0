import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MailboxError } from '../../../src/base/errors.ts'
import { failCall } from '../../helpers/fs-faults.ts'
import { brokenFixtures, homeWith, initHome, paths, placeIn, put, snapshot, uninitHome } from './home.ts'

/** The refusal, after which nothing has changed. */
function refusal(home: string): MailboxError {
  const before = snapshot(home)
  try {
    initHome(placeIn(home))
  } catch (error) {
    expect(snapshot(home)).toEqual(before)
    if (error instanceof MailboxError) return error
    throw error
  }
  throw new Error('it was not refused')
}

describe('init refuses', () => {
  it.each(brokenFixtures())('$name, and touches no other file', ({ kind, bytes }) => {
    const other = kind === 'gemini-settings' ? 'claude-settings' : 'gemini-settings'
    const home = homeWith({ [kind]: bytes, [other]: '{ "ui": {} }\n' })
    const error = refusal(home)
    expect(error.message).toContain(join(home, paths[kind]))
    expect(error.hint).toContain(`or leave ${kind.split('-')[0]} out`)
    // Nor does uninit have anything to say about it.
    expect(uninitHome(placeIn(home)).every(({ how }) => how === 'untouched')).toBe(true)
  })

  it('says where a file is broken', () => {
    const json = homeWith({ 'claude-settings': '{\n  "a": 1\n  "b": 2\n}\n' })
    expect(refusal(json).message).toMatch(/not JSON: CommaExpected at line 3, column 3/)
    const toml = homeWith({ 'codex-config': 'a = 1\nb = \n' })
    expect(refusal(toml).message).toMatch(/not TOML: .* at line 2/)
  })

  it('a read-only file, even as root', () => {
    const home = homeWith({ 'claude-settings': '{}\n' })
    chmodSync(join(home, paths['claude-settings']), 0o444)
    expect(refusal(home)).toMatchObject({ code: 'not_permitted', hint: expect.stringContaining('chmod u+w') })
  })

  it('a file with a second name, which a replaced one would part from', () => {
    const home = homeWith({ 'claude-settings': '{}\n' })
    linkSync(join(home, paths['claude-settings']), join(home, 'second'))
    expect(refusal(home).message).toContain('hard link')
  })

  it('a file of a project that leads out of it through a link', () => {
    const home = homeWith({ 'claude-settings': '{}\n' })
    const project = join(home, 'project')
    mkdirSync(project)
    for (const [path, target] of [
      ['.claude', join(home, '.claude')],
      ['.mcp.json', join(home, '.claude/settings.json')],
    ] as const) {
      symlinkSync(target, join(project, path))
      const before = snapshot(home)
      expect(() => initHome({ ...placeIn(home), scope: 'project', project }), path).toThrow(
        /leads out of the project/,
      )
      expect(snapshot(home)).toEqual(before)
      rmSync(join(project, path))
    }
    // One that stays inside is followed.
    mkdirSync(join(project, 'shared'))
    symlinkSync('shared', join(project, '.claude'))
    initHome({ ...placeIn(home), scope: 'project', project })
    expect(snapshot(join(project, 'shared'))).not.toEqual({})
  })

  it('a broken symbolic link, and a directory in the place of a file', () => {
    const dangling = homeWith()
    mkdirSync(join(dangling, '.claude'))
    symlinkSync('gone', join(dangling, '.claude/settings.json'))
    expect(refusal(dangling).message).toContain('broken symbolic link')
    const directory = homeWith()
    mkdirSync(join(directory, '.claude/settings.json'), { recursive: true })
    expect(refusal(directory).message).toContain('not a file')
    const blocked = homeWith()
    put(blocked, '.codex', 'a file where a directory should be')
    expect(refusal(blocked).message).toMatch(/\.codex/)
  })
})

describe('init puts back what it has done', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('when rename number %i fails', (count) => {
    const home = homeWith({ 'claude-settings': '{ "a": 1 }', 'codex-config': 'a = 1\n' })
    failCall('renameSync', 'EACCES', count)
    // Two backups and the manifest, then the seven files.
    const error = refusal(home)
    if (count > 2) expect(error).toMatchObject({ code: 'not_permitted' })
  })

  it('when the disk is full', () => {
    const home = homeWith({ 'claude-settings': '{ "a": 1 }' })
    failCall('fsyncSync', 'ENOSPC', 9)
    expect(refusal(home)).toMatchObject({ code: 'disk_full' })
  })
})

it('init does not overwrite what somebody else writes at the same moment', async () => {
  const { planInstall } = await import('../../../src/clients/setup/plan.ts')
  const { install } = await import('../../../src/clients/setup/install.ts')
  const { clientSetups } = await import('../../../src/clients/registry.ts')
  const home = homeWith({ 'claude-settings': '{ "a": 1 }', 'gemini-settings': '{}' })
  const place = placeIn(home)
  const plan = planInstall(clientSetups, place)
  put(home, paths['gemini-settings'], '{ "theirs": true }')
  const before = snapshot(home)
  expect(() => install(plan, place)).toThrow(/another program has changed it/)
  expect(snapshot(home)).toEqual(before)
  initHome(place)
  expect(readFileSync(join(home, paths['gemini-settings']), 'utf8')).toContain('"theirs": true')
})
