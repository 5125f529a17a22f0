import { chmodSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { clientNamed, clientSetups } from '../../../src/clients/registry.ts'
import type { SettingsFile } from '../../../src/clients/setup/client-setup.ts'
import { editBytes } from '../../../src/clients/setup/file.ts'
import { planInstall } from '../../../src/clients/setup/plan.ts'
import {
  type Fixture,
  fixturesOf,
  homeWith,
  initHome,
  kinds,
  paths,
  placeIn,
  put,
  snapshot,
  uninitHome,
} from './home.ts'

const fixtures = kinds.flatMap(fixturesOf)

/** The commands of hooks and the words that start the server, as a client finds them in its settings. */
function entriesIn(text: string, { kind }: Fixture): string {
  const plain = text.replace(/^\ufeff/, '')
  const settings: unknown =
    kind === 'codex-config' ? parseToml(plain, { integersAsBigInt: true }) : parseJson(plain)
  const all: string[] = []
  const walk = (value: unknown): void => {
    if (typeof value === 'string') all.push(value)
    else if (value !== null && typeof value === 'object') Object.values(value).forEach(walk)
  }
  walk(settings)
  return all.filter((words) => /dist\/(hook\.sh|cli\.cjs)/.test(words)).join('\n')
}

const fileFor = ({ kind }: Fixture, home: string): SettingsFile =>
  clientSetups
    .flatMap((client) => client.files(placeIn(home)))
    .find(({ path }) => path === join(home, paths[kind]))!

const hadOurs = ({ bytes }: Fixture, file: SettingsFile): boolean =>
  !editBytes(bytes, file.uninstall).equals(bytes)

const withoutBlanks = (text: string): string => text.replace(/\s/g, '')

/** Whether one text can be had from the other by leaving characters out. */
function isWithin(text: string, longer: string): boolean {
  let at = 0
  for (let i = 0; i < longer.length; i++) if (longer[i] === text[at]) at++
  return at === text.length
}

it('has enough settings files to try', () => {
  expect(fixtures.length).toBeGreaterThanOrEqual(50)
})

describe.each(fixtures)('$kind $name', (fixture) => {
  const { kind, bytes } = fixture
  const clients = [clientNamed(kind.split('-')[0]!)]

  it('is put back byte for byte, and so is all the home', () => {
    const home = homeWith({ [kind]: bytes })
    const before = snapshot(home)
    const place = placeIn(home)
    initHome(place, clients)
    const text = readFileSync(join(home, paths[kind]), 'utf8')
    const entries = entriesIn(text, fixture)
    expect(entries).toContain('/opt/agent-mailbox/dist/')
    expect(entries.replaceAll('my-own/hook.sh', '')).not.toMatch(/\/old|\/a\/|\/b\//)
    uninitHome(place, clients)
    expect(snapshot(home)).toEqual(before)
  })

  it('needs no second set-up', () => {
    const home = homeWith({ [kind]: bytes })
    initHome(placeIn(home), clients)
    const once = snapshot(home)
    expect(initHome(placeIn(home), clients).filter(({ isChanged }) => isChanged)).toEqual([])
    expect(snapshot(home)).toEqual(once)
  })

  it('keeps all that is its own: an edit only adds', () => {
    const file = fileFor(fixture, homeWith())
    const after = editBytes(bytes, file.install).toString()
    if (hadOurs(fixture, file)) return
    expect(isWithin(withoutBlanks(bytes.toString()), withoutBlanks(after))).toBe(true)
    const lineEnds = (text: string) => new Set(text.match(/\r?\n/g))
    if (lineEnds(bytes.toString()).size > 0) expect(lineEnds(after)).toEqual(lineEnds(bytes.toString()))
  })

  it('loses only our entries when somebody has changed it since', () => {
    const home = homeWith({ [kind]: bytes })
    const place = placeIn(home)
    const file = fileFor(fixture, home)
    initHome(place, clients)
    const path = join(home, paths[kind])
    const theirs = kind === 'codex-config' ? '\n# a later thought\n' : '\n// a later thought\n'
    put(home, paths[kind], Buffer.concat([readFileSync(path), Buffer.from(theirs)]))
    const undone = uninitHome(place, clients).find((each) => each.path === path)
    expect(undone?.how).toBe('edited')
    const left = readFileSync(path)
    expect(left.toString()).toContain(theirs)
    expect(entriesIn(left.toString(), fixture).replace(/^.*my-own.*$/m, '')).toBe('')
    // Without ours and without the thought it is what it was, but for lists and objects with nothing in them.
    const rest = left.toString().replace(theirs, '')
    if (!hadOurs(fixture, file) && !/[[{]\s*[\]}]|^\s*$/.test(bytes.toString()))
      expect(rest.replace(/\r?\n$/, '')).toBe(bytes.toString().replace(/\r?\n$/, ''))
  })
})

describe('a settings file', () => {
  it('behind a link is edited where it is, and the link stays', () => {
    const home = homeWith()
    put(home, 'dotfiles/claude/settings.json', '{\n  "model": "opus"\n}\n')
    put(home, 'dotfiles/codex/config.toml', 'model = "o4"\n')
    mkdirSync(join(home, '.claude'))
    symlinkSync('../dotfiles/claude/settings.json', join(home, '.claude/settings.json'))
    symlinkSync('dotfiles/codex', join(home, '.codex'))
    const before = snapshot(home)
    const place = placeIn(home)
    initHome(place)
    const link = join(home, '.claude/settings.json')
    expect(realpathSync(link)).toBe(join(realpathSync(home), 'dotfiles/claude/settings.json'))
    expect(readFileSync(join(home, 'dotfiles/claude/settings.json'), 'utf8')).toContain('hook.sh')
    expect(readFileSync(join(home, 'dotfiles/codex/hooks.json'), 'utf8')).toContain('hook.sh')
    uninitHome(place)
    expect(snapshot(home)).toEqual(before)
  })

  it('keeps its mode', () => {
    const home = homeWith({ 'claude-settings': '{}', 'codex-config': 'a = 1\n' })
    chmodSync(join(home, paths['claude-settings']), 0o640)
    chmodSync(join(home, paths['codex-config']), 0o600)
    const before = snapshot(home)
    initHome(placeIn(home))
    expect(snapshot(home)['.claude/settings.json']).toMatch(/^640 /)
    expect(snapshot(home)['.codex/config.toml']).toMatch(/^600 /)
    uninitHome(placeIn(home))
    expect(snapshot(home)).toEqual(before)
  })

  it('may be very large', () => {
    const projects = Object.fromEntries(
      Array.from({ length: 4_000 }, (_, n) => [
        `/home/zoe/src/${n}`,
        { allowedTools: [], history: [{ display: `do "${n}" \\ \n`, pastedContents: {} }], cost: n / 7 },
      ]),
    )
    const huge = JSON.stringify({ numStartups: 9, projects, mcpServers: {}, last: true }, null, 2)
    const home = homeWith({ 'claude-servers': huge, 'claude-settings': JSON.stringify({ projects }) })
    const before = snapshot(home)
    initHome(placeIn(home), [clientNamed('claude')])
    expect(JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8'))).toMatchObject({
      projects,
      mcpServers: { mailbox: { command: 'node' } },
    })
    uninitHome(placeIn(home))
    expect(snapshot(home)).toEqual(before)
  })

  it('is made where there is none, with its directories, and these go again', () => {
    const home = homeWith()
    const plan = initHome(placeIn(home))
    for (const { file } of plan) expect(readFileSync(file.path, 'utf8'), file.path).toContain('agent-mailbox')
    uninitHome(placeIn(home))
    expect(snapshot(home)).toEqual({})
  })

  it('of a project is the project’s own', () => {
    const home = homeWith()
    put(home, 'project/.mcp.json', '{ "mcpServers": {} }\n')
    const before = snapshot(home)
    const place = placeIn(home, { scope: 'project' })
    expect(
      planInstall(clientSetups, place).map(({ file }) => file.path.slice(place.project.length + 1)),
    ).toEqual([
      '.claude/settings.json',
      '.mcp.json',
      '.codex/hooks.json',
      '.codex/config.toml',
      '.gemini/settings.json',
      '.opencode/plugin/agent-mailbox.js',
      'opencode.json',
    ])
    initHome(place)
    // Nothing of ours lies in the project but the entries: what is kept may be secret, and projects are shared.
    expect(Object.keys(snapshot(place.project)).filter((path) => /setup|backup|manifest/.test(path))).toEqual(
      [],
    )
    uninitHome(place)
    expect(snapshot(home)).toEqual(before)
  })
})
