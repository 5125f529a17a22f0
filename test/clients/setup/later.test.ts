import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { clientNamed } from '../../../src/clients/registry.ts'
import { homeWith, initHome, paths, placeIn, put, snapshot, uninitHome } from './home.ts'

const claude = [clientNamed('claude')]
const settings = paths['claude-settings']
const original = '{\n  "model": "opus" // mine\n}\n'
const read = (home: string, path = settings) => readFileSync(join(home, path), 'utf8')

it('a second set-up from another place mends the entries, and uninit still goes back to the start', () => {
  const home = homeWith({ 'claude-settings': original, 'codex-config': 'a = 1\n' })
  const before = snapshot(home)
  initHome(placeIn(home, { dist: '/old/dist', space: '/srv/mail' }))
  initHome(placeIn(home, { dist: '/new/dist' }))
  expect(
    Object.values(snapshot(home))
      .map((each) => Buffer.from(each, 'base64').toString())
      .join(''),
  ).not.toMatch(/\/old\/dist|\/srv\/mail/)
  expect(read(home)).toContain('/new/dist/hook.sh claude Stop')
  expect(read(home, '.codex/config.toml')).not.toContain('MAILBOX_SPACE =')
  uninitHome(placeIn(home))
  expect(snapshot(home)).toEqual(before)
})

it('clients can be set up and undone one by one', () => {
  const home = homeWith({ 'claude-settings': original, 'gemini-settings': '{}' })
  const before = snapshot(home)
  initHome(placeIn(home), claude)
  initHome(placeIn(home), [clientNamed('gemini')])
  uninitHome(placeIn(home), claude)
  expect(read(home)).toBe(original)
  expect(read(home, paths['gemini-settings'])).toContain('hook.sh')
  uninitHome(placeIn(home))
  expect(snapshot(home)).toEqual(before)
})

it('what the person changes between two set-ups is what uninit goes back to', () => {
  const home = homeWith({ 'claude-settings': original })
  initHome(placeIn(home, { dist: '/old/dist' }), claude)
  writeFileSync(join(home, settings), read(home).replace('"opus"', '"sonnet"'))
  initHome(placeIn(home, { dist: '/new/dist' }), claude)
  const undone = uninitHome(placeIn(home), claude)
  expect(undone.find(({ path }) => path.endsWith('settings.json'))?.how).toBe('restored')
  expect(read(home)).toBe(original.replace('"opus"', '"sonnet"'))
})

it('what the person adds to our entries stays when they are mended', () => {
  const home = homeWith({ 'claude-settings': original })
  initHome(placeIn(home, { dist: '/old/dist' }), claude)
  writeFileSync(
    join(home, settings),
    read(home).replace(/"timeout": 30/, '"timeout": 99, "statusMessage": "mail"'),
  )
  put(
    home,
    '.claude.json',
    read(home, '.claude.json').replace('"alwaysLoad": true', '"alwaysLoad": true, "env": { "A": "b" }'),
  )
  initHome(placeIn(home, { dist: '/new/dist' }), claude)
  expect(read(home)).toMatch(
    /\/new\/dist\/hook.sh claude SessionStart", "timeout": 99, "statusMessage": "mail"/,
  )
  expect(JSON.parse(read(home, '.claude.json'))).toMatchObject({
    mcpServers: { mailbox: { env: { A: 'b' } } },
  })
})

it('a file that the person has removed stays away', () => {
  const home = homeWith({ 'claude-settings': original })
  initHome(placeIn(home), claude)
  rmSync(join(home, settings))
  uninitHome(placeIn(home), claude)
  expect(snapshot(home)).not.toHaveProperty(settings)
})

it('a file that was ours alone goes, unless somebody has put something in', () => {
  const home = homeWith()
  initHome(placeIn(home), [clientNamed('gemini')])
  put(home, paths['gemini-settings'], read(home, paths['gemini-settings']).replace('{', '{\n  "ui": {},'))
  initHome(placeIn(home), [clientNamed('codex')])
  expect(uninitHome(placeIn(home)).map(({ how }) => how)).toContain('removed')
  expect(JSON.parse(read(home, paths['gemini-settings']))).toEqual({ ui: {} })
  expect(Object.keys(snapshot(home))).toEqual(['.gemini', '.gemini/settings.json'])
})

it('without its manifest uninit finds our entries all the same', () => {
  const home = homeWith({
    'claude-settings': original,
    'codex-config': 'a = 1\n',
    'gemini-settings': '{ broken',
  })
  initHome(placeIn(home), [clientNamed('claude'), clientNamed('codex')])
  rmSync(join(home, '.mailbox'), { recursive: true })
  uninitHome(placeIn(home))
  expect(read(home)).toBe(original)
  expect(read(home, paths['codex-config'])).toBe('a = 1\n')
  expect(
    Object.keys(snapshot(home)).filter((path) => path.includes('hooks.json') || path === '.claude.json'),
  ).toEqual([])
})

it('what was there of an earlier set-up comes back, and a second uninit takes it out', () => {
  const older =
    '{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "/old/dist/hook.sh claude Stop" }] }] } }\n'
  const home = homeWith({ 'claude-settings': older })
  initHome(placeIn(home), claude)
  const [undone] = uninitHome(placeIn(home), claude)
  expect(undone).toMatchObject({ how: 'restored', olderEntries: true })
  expect(read(home)).toBe(older)
  uninitHome(placeIn(home), claude)
  expect(snapshot(home)).not.toHaveProperty(settings)
})

it('a file that was broken since stops uninit before it touches any, and says which', () => {
  const home = homeWith({ 'claude-settings': original, 'gemini-settings': '{}' })
  initHome(placeIn(home))
  put(home, paths['gemini-settings'], `${read(home, paths['gemini-settings'])}}`)
  const broken = snapshot(home)
  expect(() => uninitHome(placeIn(home))).toThrow(/\.gemini\/settings\.json: it is not JSON/)
  expect(snapshot(home)).toEqual(broken)
  uninitHome(placeIn(home), claude)
  expect(read(home)).toBe(original)
})
