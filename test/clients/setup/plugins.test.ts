import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ourEvent } from '../../../src/clients/setup/our-entries.ts'
import { bareEnv, cli, clientHome } from '../real/claude.ts'
import { homeWith, initHome, type Kind, paths, placeIn } from './home.ts'

const plugins = fileURLToPath(new URL('../../../plugins', import.meta.url))
const dist = dirname(cli)

const readJson = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>

const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Hooks without the way to the package, which is what a plugin and `init` differ in. */
function hooksIn(path: string): unknown {
  const { hooks } = readJson(path)
  return JSON.parse(
    JSON.stringify(hooks, (key, value: unknown) => (key === 'command' ? ourEvent(value) : value)),
  )
}

describe('a plugin', () => {
  it.each(['claude', 'codex', 'gemini'])('of %s has the hooks that init installs', (client) => {
    const home = homeWith()
    initHome(placeIn(home))
    const kind: Kind =
      client === 'codex' ? 'codex-hooks' : client === 'claude' ? 'claude-settings' : 'gemini-settings'
    expect(hooksIn(join(plugins, client, 'hooks/hooks.json'))).toEqual(hooksIn(join(home, paths[kind])))
  })

  it('has the version of the package', () => {
    const { version } = readJson(join(plugins, '../package.json'))
    for (const path of [
      'claude/.claude-plugin/plugin.json',
      'codex/.codex-plugin/plugin.json',
      'gemini/gemini-extension.json',
    ])
      expect(readJson(join(plugins, path))['version'], path).toBe(version)
  })

  it('explains the mailbox in the same words everywhere', () => {
    const skill = readFileSync(join(plugins, 'claude/skills/mailbox/SKILL.md'), 'utf8')
    expect(readFileSync(join(plugins, 'codex/skills/mailbox/SKILL.md'), 'utf8')).toBe(skill)
    expect(skill.endsWith(`\n---\n${readFileSync(join(plugins, 'gemini/GEMINI.md'), 'utf8')}`)).toBe(true)
  })
})

describe('the launcher of the plugins', () => {
  const launcher = join(plugins, 'claude/scripts/mailbox.sh')
  const start = (env: Record<string, string>, path: string, ...words: string[]) =>
    spawnSync(path, words, { env, encoding: 'utf8', input: '{}' })

  it('is the same file in all of them', () => {
    for (const client of ['codex', 'gemini'])
      expect(readFileSync(join(plugins, client, 'scripts/mailbox.sh'), 'utf8')).toBe(
        readFileSync(launcher, 'utf8'),
      )
  })

  it('finds the package: beside it, where MAILBOX_DIST says, and where mailbox on the PATH leads', () => {
    const home = clientHome()
    const env = bareEnv(home)
    const copy = join(home.home, 'cache/plugin/scripts/mailbox.sh')
    put(copy, readFileSync(launcher, 'utf8'))
    chmodSync(copy, 0o755)
    const version = /^\d+\.\d+\.\d+\n$/
    expect(start(env, launcher, '--version').stdout).toMatch(version)
    expect(start({ ...env, MAILBOX_DIST: dist }, copy, '--version').stdout).toMatch(version)
    // As `npm link` and local installs have it: a link to the program.
    const bin = join(home.home, 'bin')
    mkdirSync(bin)
    symlinkSync(cli, join(bin, 'mailbox'))
    expect(start({ ...env, PATH: `${bin}:${env['PATH']}` }, copy, '--version').stdout).toMatch(version)
    // As `npm install -g` has it.
    rmSync(join(bin, 'mailbox'))
    const modules = join(home.home, 'lib/node_modules')
    mkdirSync(modules, { recursive: true })
    symlinkSync(dirname(dist), join(modules, 'agent-mailbox'))
    put(join(bin, 'mailbox'), '')
    chmodSync(join(bin, 'mailbox'), 0o755)
    expect(start({ ...env, PATH: `${bin}:${env['PATH']}` }, copy, '--version').stdout).toMatch(version)
  })

  it('runs `mailbox` where that is a script of its own', () => {
    const home = clientHome()
    const copy = join(home.home, 'cache/plugin/scripts/mailbox.sh')
    put(copy, readFileSync(launcher, 'utf8'))
    const shim = join(home.home, 'shims/mailbox')
    put(shim, `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`)
    for (const path of [copy, shim]) chmodSync(path, 0o755)
    const bare = bareEnv(home)
    const space = join(home.home, 'space')
    const env = { ...bare, PATH: `${dirname(shim)}:${bare['PATH']}`, MAILBOX_SPACE: space }
    expect(start(env, copy, '--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    const run = (...words: string[]) => start(env, process.execPath, cli, ...words)
    expect(run('join', 'ada', '--quiet').status).toBe(0)
    expect(run('send', 'all', '--subject', 'NEWS', '--body', 'x', '--quiet').status).toBe(0)
    const { status, stdout } = start(env, copy, 'hook', 'claude', 'SessionStart')
    expect({ status, text: stdout }).toEqual({ status: 0, text: expect.stringContaining('NEWS') })
  })

  it('without the package says so once a session, and never disturbs', () => {
    const home = clientHome()
    const copy = join(home.home, 'cache/plugin/scripts/mailbox.sh')
    put(copy, readFileSync(launcher, 'utf8'))
    chmodSync(copy, 0o755)
    const env = bareEnv(home)
    expect(start(env, copy, 'mcp')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('npm install -g'),
    })
    expect(JSON.parse(start(env, copy, 'hook', 'claude', 'SessionStart').stdout)).toHaveProperty(
      'systemMessage',
    )
    expect(start(env, copy, 'hook', 'claude', 'PostToolUse')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    })
  })
})
