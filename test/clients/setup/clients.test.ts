import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { clientProgram } from '../../helpers/install.ts'
import { tempSpace } from '../../helpers/temp.ts'
import { anthropic } from '../real/anthropic.ts'
import { bareEnv, claudeEnv, cli, clientHome, startClient } from '../real/claude.ts'
import { scriptedModel } from '../real/scripted-model.ts'
import { snapshot } from './home.ts'

/** Installing a client takes a while the first time. */
const timeout = 240_000
const plugins = fileURLToPath(new URL('../../../plugins', import.meta.url))
const dist = dirname(cli)

type Home = ReturnType<typeof clientHome>

/** The real client under the name that people call it by, first on the PATH. */
function envWith(home: Home, client: 'claude' | 'codex' | 'gemini' | 'opencode'): Record<string, string> {
  const bin = join(home.home, '..', 'bin')
  mkdirSync(bin, { recursive: true })
  const program = clientProgram(client)
  const path = join(bin, client)
  if (program.endsWith('.js')) {
    writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
    chmodSync(path, 0o755)
  } else symlinkSync(program, path)
  const { PATH = '', ...env } = bareEnv(home)
  return { ...env, PATH: `${bin}:${PATH}` }
}

interface Ran {
  code: number | null
  said: string
}

function run(home: Home, env: Record<string, string>, program: string, ...words: string[]): Ran {
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd: home.project,
    env: { ...env, GEMINI_CLI_NO_RELAUNCH: 'true' },
    encoding: 'utf8',
    input: 'y\ny\n',
    timeout: 60_000,
  })
  return { code: status, said: stdout + stderr }
}

function mailbox(home: Home, env: Record<string, string>, ...words: string[]): string {
  const { code, said } = run(home, env, process.execPath, cli, ...words)
  expect(code, said).toBe(0)
  return said
}

const finding = (home: Home, env: Record<string, string>, check: string, ...words: string[]) => {
  const { checks } = JSON.parse(mailbox(home, env, ...words, 'doctor', '--json')) as {
    checks: { check: string; state: string; found: string; next?: string }[]
  }
  return checks.find((each) => each.check === check)
}

const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

describe('the real Claude Code', () => {
  it('reads the settings that init wrote: mail is in its context, the tools are on offer', {
    timeout,
  }, async () => {
    const home = clientHome()
    put(join(home.home, '.claude/settings.json'), '{\n  "model": "opus",\n  "hooks": {}\n}\n')
    const before = snapshot(home.home)
    const space = await tempSpace()
    const model = await scriptedModel(anthropic, () => ({ text: 'Hello.' }))
    const env = claudeEnv({ home, modelUrl: model.url })
    mailbox(home, env, '--space', space.dir, 'init', '--client', 'claude', '--yes')
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'all', subject: 'Port', body: 'THE-PORT-IS-8080', priority: 'high' })
    const claude = startClient(clientProgram('claude'), ['-p', 'Hello?'], { cwd: home.project, env })
    claude.end()
    expect(await claude.exit, claude.stderr()).toBe(0)
    const request = await model.until('THE-PORT-IS-8080')
    expect(request.tools).toContain('mcp__mailbox__check')
    expect(finding(home, env, 'claude', '--space', space.dir)).toMatchObject({ state: 'ok' })
    // Claude Code has written its own state into the file with the servers since, and keeps it.
    mailbox(home, env, 'uninit')
    expect(readFileSync(join(home.home, '.claude/settings.json'), 'utf8')).toBe(
      '{\n  "model": "opus",\n  "hooks": {}\n}\n',
    )
    const state = JSON.parse(readFileSync(join(home.home, '.claude/.claude.json'), 'utf8')) as Record<
      string,
      unknown
    >
    expect(state).toHaveProperty('firstStartVersion')
    expect(JSON.stringify(state)).not.toContain('cli.cjs')
    expect(before['.claude/settings.json']).toBe(snapshot(home.home)['.claude/settings.json'])
  })

  it('takes the plugin: it validates, installs from a folder, and brings mail', { timeout }, async () => {
    const home = clientHome()
    const space = await tempSpace()
    const model = await scriptedModel(anthropic, () => ({ text: 'Hello.' }))
    const env = { ...claudeEnv({ home, modelUrl: model.url }), MAILBOX_SPACE: space.dir }
    const claude = (...words: string[]) => {
      // Not with the model: it is in this process, which waits.
      const nowhere = { ...env, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }
      const { code, said } = run(home, nowhere, clientProgram('claude'), ...words)
      expect(code, said).toBe(0)
      return said
    }
    for (const path of [plugins, join(plugins, 'claude')])
      expect(claude('plugin', 'validate', path)).toContain('Validation passed')
    claude('plugin', 'marketplace', 'add', plugins)
    claude('plugin', 'install', 'mailbox@agent-mailbox')
    const details = claude('plugin', 'details', 'mailbox@agent-mailbox')
    expect(details).toMatch(/Skills \(3\) +check, handoff, mailbox/)
    expect(details).toMatch(/Hooks \(8\)/)
    expect(claude('mcp', 'list')).toMatch(/plugin:mailbox:mailbox: .* Connected/)
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'all', subject: 'Port', body: 'THE-PORT-IS-8080', priority: 'high' })
    const session = startClient(clientProgram('claude'), ['-p', 'Hello?'], { cwd: home.project, env })
    session.end()
    expect(await session.exit, session.stderr()).toBe(0)
    const { tools } = await model.until('THE-PORT-IS-8080')
    expect(tools).toContain('mcp__plugin_mailbox_mailbox__check')
    expect(finding(home, env, 'claude')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('as a plugin'),
    })
  })
})

describe('the real Codex', () => {
  /** What Codex answers to a question. */
  async function askCodex<T>(
    home: Home,
    env: Record<string, string>,
    method: string,
    params: object,
  ): Promise<T> {
    const child = spawn(clientProgram('codex'), ['app-server'], {
      cwd: home.project,
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const send = (message: object) => void child.stdin.write(`${JSON.stringify(message)}\n`)
    send({
      id: 1,
      method: 'initialize',
      params: { clientInfo: { name: 'test', title: 'test', version: '0' } },
    })
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line) as { id?: number; result: T }
      if (id === 1) send({ method: 'initialized' })
      if (id === 1) send({ id: 2, method, params })
      if (id === 2) return result
    }
    throw new Error('it did not answer')
  }

  async function listHooks(home: Home, env: Record<string, string>): Promise<Record<string, string>[]> {
    type Listed = { data: { hooks: Record<string, string>[] }[] }
    const { data } = await askCodex<Listed>(home, env, 'hooks/list', { cwds: [home.project] })
    return data.flatMap(({ hooks }) => hooks)
  }

  /** The tools of the server, which Codex starts for that. */
  async function listTools(home: Home, env: Record<string, string>): Promise<string[]> {
    type Listed = { data: { name: string; tools: Record<string, unknown>; toolsError?: string }[] }
    const { data } = await askCodex<Listed>(home, env, 'mcpServerStatus/list', {})
    return data.flatMap(({ tools, toolsError }) => [
      ...Object.keys(tools),
      ...(toolsError ? [toolsError] : []),
    ])
  }

  it('lists our hooks and our server, and doctor sees when they are trusted', { timeout }, async () => {
    const home = clientHome()
    const env = envWith(home, 'codex')
    const config = join(home.home, '.codex/config.toml')
    put(config, '# mine\nmodel = "gpt-5" # for now\n\n[tui]\nnotifications = true\n')
    const before = readFileSync(config, 'utf8')
    mailbox(home, env, 'join', 'ada')
    mailbox(home, env, 'init', '--client', 'codex', '--yes')
    expect(await listTools(home, env)).toContain('check')
    const hooks = await listHooks(home, env)
    expect(hooks.map(({ command }) => command?.split(' ').at(-1)).sort()).toEqual([
      'PostToolUse',
      'PreCompact',
      'SessionEnd',
      'SessionStart',
      'Stop',
      'SubagentStop',
      'UserPromptSubmit',
    ])
    expect(finding(home, env, 'codex')).toMatchObject({
      state: 'warn',
      found: 'set up, but Codex skips 7 of 7 hooks: not trusted',
      next: expect.stringContaining('/hooks'),
    })
    // As Codex writes it down when the person trusts them.
    const trust = hooks.map(
      ({ key, currentHash }) => `[hooks.state."${key}"]\ntrusted_hash = "${currentHash}"\n`,
    )
    writeFileSync(config, readFileSync(config, 'utf8') + trust.join('\n'))
    expect(finding(home, env, 'codex')).toMatchObject({ found: 'set up; no hook has run in this space yet' })
    mailbox(home, env, 'uninit')
    expect(readFileSync(config, 'utf8')).toBe(before + trust.join('\n'))
  })

  it('takes the plugin from a folder', { timeout }, async () => {
    const home = clientHome()
    const env = { ...envWith(home, 'codex'), MAILBOX_DIST: dist }
    mkdirSync(join(home.home, '.codex'))
    const codex = (...words: string[]) => {
      const { code, said } = run(home, env, 'codex', ...words)
      expect(code, said).toBe(0)
      return said
    }
    codex('plugin', 'marketplace', 'add', plugins)
    codex('plugin', 'add', 'mailbox@agent-mailbox')
    expect(codex('plugin', 'list')).toMatch(/mailbox@agent-mailbox +installed, enabled/)
    const hooks = await listHooks(home, env)
    expect(hooks).toHaveLength(7)
    mailbox(home, env, 'join', 'ada')
    expect(await listTools(home, env)).toContain('check')
    for (const { command } of hooks) {
      const { status } = spawnSync('sh', ['-c', command!], {
        cwd: home.project,
        env,
        input: '{"session_id":"s"}',
      })
      expect(status).toBe(0)
    }
    expect(finding(home, env, 'codex')).toMatchObject({
      found: expect.stringContaining('as a plugin, but Codex skips 7 of 7'),
    })
  })
})

describe('the real Gemini CLI', () => {
  it('reads the settings that init wrote, and starts the server', { timeout }, () => {
    const home = clientHome()
    const env = envWith(home, 'gemini')
    const settings = join(home.home, '.gemini/settings.json')
    put(settings, '{\n  // trusted\n  "security": { "folderTrust": { "enabled": false } }\n}\n')
    const before = readFileSync(settings, 'utf8')
    mailbox(home, env, 'init', '--client', 'gemini', '--yes')
    expect(run(home, env, 'gemini', 'mcp', 'list').said).toMatch(
      /mailbox: .*cli\.cjs mcp \(stdio\) - Connected/,
    )
    mailbox(home, env, 'uninit')
    expect(readFileSync(settings, 'utf8')).toBe(before)
  })

  it('takes the extension from a folder', { timeout }, () => {
    const home = clientHome()
    const env = { ...envWith(home, 'gemini'), MAILBOX_DIST: dist }
    const gemini = (...words: string[]) => {
      const { code, said } = run(home, env, 'gemini', ...words)
      expect(code, said).toBe(0)
      return said
    }
    expect(gemini('extensions', 'validate', join(plugins, 'gemini'))).toContain('successfully validated')
    gemini('extensions', 'install', '--consent', join(plugins, 'gemini'))
    expect(gemini('extensions', 'list')).toMatch(/mailbox \(\d+\.\d+\.\d+\)/)
    expect(gemini('mcp', 'list')).toMatch(/mailbox.*Connected/)
    expect(finding(home, env, 'gemini')).toMatchObject({ found: expect.stringContaining('as a plugin') })
  })
})

describe('the real OpenCode', () => {
  it('reads the configuration that init wrote, plugin and server', { timeout }, () => {
    const home = clientHome()
    const offline = {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    }
    const env = { ...envWith(home, 'opencode'), ...offline }
    // It would wait for a registry otherwise.
    put(join(home.home, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retries=0\n')
    const config = join(home.home, '.config/opencode/opencode.jsonc')
    put(
      config,
      '{\n  "$schema": "https://opencode.ai/config.json", // for the editor\n  "autoupdate": false,\n}\n',
    )
    const before = readFileSync(config, 'utf8')
    mailbox(home, env, 'init', '--client', 'opencode', '--yes')
    const said = run(home, env, 'opencode', 'debug', 'config').said
    expect(said).toContain(`${dist}/cli.cjs`)
    expect(said).toContain('plugin/agent-mailbox.js')
    mailbox(home, env, 'uninit')
    expect(readFileSync(config, 'utf8')).toBe(before)
  })
})
