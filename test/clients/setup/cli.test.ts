import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { needTool } from '../../helpers/tools.ts'
import { homeWith, paths, put, snapshot } from './home.ts'

const cli = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url))
const dist = dirname(cli)

interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** No client of this machine is on the PATH, and no compiled code in the home: a test sees what it has put there. */
const envOf = (home: string) => ({
  PATH: `${join(home, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
  HOME: home,
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
})

function mailbox(home: string, ...words: string[]): Ran {
  const options = { cwd: home, env: envOf(home), encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], options)
  return { code: status, stdout, stderr }
}

const settings = '{\n  "model": "opus",\n  "env": { "API_TOKEN": "do-not-print-me" }\n}\n'

describe('mailbox init', () => {
  it('without a terminal shows what it would do, says how to go on, and changes nothing', () => {
    const home = homeWith({ 'claude-settings': settings })
    const before = snapshot(home)
    const { code, stdout, stderr } = mailbox(home, 'init')
    expect(code).toBe(2)
    expect(stdout).toContain('~/.claude/settings.json')
    expect(stdout).toMatch(/^ {2}~\/\.claude\.json \(new\): \d+ lines added$/m)
    expect(stdout).not.toContain('hook.sh')
    expect(mailbox(home, 'init', '--diff').stdout).toMatch(new RegExp(`\\+ .*${dist}/hook.sh claude Stop`))
    expect(stderr).toMatch(/nothing was changed: cannot ask without a terminal\nhint: .* init --yes/)
    expect(snapshot(home)).toEqual(before)
  })

  it('points the clients to a hub by its address', () => {
    const home = homeWith({ 'claude-settings': settings })
    const hub = 'https://hub.example.org:7337'
    expect(mailbox(home, 'init', '--yes', '--space', hub).code).toBe(0)
    const hooks = readFileSync(join(home, '.claude', 'settings.json'), 'utf8')
    expect(hooks).toContain(`MAILBOX_SPACE=${hub} `)
    expect(JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8')).mcpServers.mailbox.env).toEqual({
      MAILBOX_SPACE: hub,
    })
  })

  it('does not print secrets that stand beside its own entries', () => {
    const home = homeWith({ 'claude-settings': settings })
    const { stdout } = mailbox(home, 'init', '--dry-run', '--diff')
    expect(stdout).toContain('"API_TOKEN": "…"')
    expect(stdout).not.toContain('do-not-print-me')
    expect(mailbox(home, 'init', '--dry-run', '--json').stdout).not.toContain('do-not-print-me')
  })

  it('shows a file that stands on one line as if it were laid out', () => {
    const history = Array.from({ length: 60 }, (_, n) => `prompt number ${n}`)
    const home = homeWith({ 'claude-servers': JSON.stringify({ history, theme: 'dark' }) })
    mkdirSync(join(home, '.claude'))
    const { stdout } = mailbox(home, 'init', '--dry-run', '--diff')
    expect(stdout).toContain('"theme": "dark"')
    expect(stdout).not.toContain('prompt number 1')
  })

  it('sets up what it finds, once, and uninit puts everything back', () => {
    const home = homeWith({ 'claude-settings': settings, 'codex-config': 'model = "o4"\n' })
    const before = snapshot(home)
    const first = mailbox(home, 'init', '--yes')
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(/^Set up Claude Code, Codex:\n {2}~\/\.claude\/settings\.json\n/)
    expect(first.stdout).toContain('Codex skips new hooks until you trust them')
    expect(existsSync(join(home, '.gemini'))).toBe(false)
    expect(mailbox(home, 'init').stdout).toBe('Already set up: Claude Code, Codex.\n')
    const undone = mailbox(home, 'uninit')
    expect(undone).toMatchObject({ code: 0, stderr: '' })
    expect(undone.stdout).toContain('~/.claude/settings.json: restored byte for byte')
    expect(snapshot(home)).toEqual(before)
    expect(mailbox(home, 'uninit').stdout).toBe('Nothing to undo.\n')
  })

  it('finds a client by its program alone', () => {
    const home = homeWith()
    put(home, 'bin/gemini', '#!/bin/sh\n')
    chmodSync(join(home, 'bin/gemini'), 0o755)
    const { files } = JSON.parse(mailbox(home, 'init', '--dry-run', '--json').stdout) as {
      files: { client: string }[]
    }
    expect(files.map(({ client }) => client)).toEqual(['gemini'])
  })

  it('says so when there is no client, and when it does not know one', () => {
    const home = homeWith()
    expect(mailbox(home, 'init', '--yes')).toMatchObject({
      code: 0,
      stdout: 'Nothing to set up.\n',
      stderr: expect.stringContaining('--client NAME'),
    })
    const unknown = mailbox(home, 'init', '--client', 'emacs')
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('claude, codex, gemini, opencode'),
    })
  })

  it('answers programs with one object', () => {
    const home = homeWith({ 'gemini-settings': '{}' })
    const asked = mailbox(home, 'init', '--json')
    expect(asked.code).toBe(2)
    expect(JSON.parse(asked.stdout)).toMatchObject({ error: { code: 'invalid' } })
    const done = JSON.parse(mailbox(home, 'init', '--json', '--yes').stdout) as object
    const path = join(home, paths['gemini-settings'])
    expect(done).toMatchObject({ applied: true, files: [{ client: 'gemini', path, change: 'edit' }] })
    const undone = JSON.parse(mailbox(home, 'uninit', '--json').stdout) as object
    expect(undone).toMatchObject({ applied: true, files: [{ client: 'gemini', path, how: 'restored' }] })
  })

  it('names the space for hooks and server when it was named', () => {
    const home = homeWith({ 'claude-settings': '{}', 'codex-config': '' })
    expect(mailbox(home, '--space', 'a space', 'init', '--yes').code).toBe(0)
    const space = join(home, 'a space')
    expect(readFileSync(join(home, '.codex/config.toml'), 'utf8')).toContain(
      `env = { MAILBOX_SPACE = "${space}" }`,
    )
    expect(JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8'))).toMatchObject({
      mcpServers: { mailbox: { env: { MAILBOX_SPACE: space } } },
    })
    // What it wrote is a command that a shell runs: without a space it does nothing, and ends well.
    const { hooks } = JSON.parse(readFileSync(join(home, '.claude/settings.json'), 'utf8')) as {
      hooks: Record<string, { hooks: { command: string }[] }[]>
    }
    const { command } = hooks['SessionStart']![0]!.hooks[0]!
    expect(command).toBe(`MAILBOX_SPACE='${space}' ${dist}/hook.sh claude SessionStart`)
    expect(spawnSync('sh', ['-c', command], { env: envOf(home), input: '{}' }).status).toBe(0)
  })

  it('sets up a project in its own files', () => {
    const home = homeWith({ 'claude-settings': '{}' })
    const project = join(home, 'project')
    put(home, 'project/.mcp.json', '{\n    "mcpServers": {}\n}\n')
    const before = snapshot(home)
    const run = (...words: string[]) =>
      spawnSync(process.execPath, [cli, ...words], { cwd: project, env: envOf(home), encoding: 'utf8' })
    const { status, stderr } = run('init', '--scope', 'project', '--yes')
    expect(status).toBe(0)
    expect(stderr).toContain('paths of this machine')
    expect(readFileSync(join(project, '.mcp.json'), 'utf8')).toContain('cli.cjs')
    expect(readFileSync(join(home, '.claude/settings.json'), 'utf8')).toBe('{}')
    // A set-up for the person is another matter.
    expect(run('uninit').stdout).toBe('Nothing to undo.\n')
    expect(run('uninit', '--scope', 'project').status).toBe(0)
    expect(snapshot(home)).toEqual(before)
  })

  it('leaves a client alone that has the plugin', () => {
    const home = homeWith({ 'claude-settings': '{ "enabledPlugins": { "mailbox@agent-mailbox": true } }' })
    expect(mailbox(home, 'init', '--yes')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('skipping it'),
    })
    expect(mailbox(home, 'init', '--yes', '--client', 'claude')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('claude plugin uninstall mailbox'),
    })
  })
})

describe('on a terminal', () => {
  /** Runs in a terminal of its own and answers the question with these keys. */
  async function answering(home: string, keys: string): Promise<string> {
    needTool('script')
    // A terminal without a width would be written to letter by letter.
    const line = `stty cols 100 rows 40; exec '${process.execPath}' '${cli}' init`
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      cwd: home,
      env: { ...envOf(home), TERM: 'xterm', SHELL: '/bin/sh' },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    let asked = false
    child.stdout.on('data', (data: Buffer) => {
      said += data.toString()
      if (asked || !said.includes('Make these changes?')) return
      asked = true
      child.stdin.write(keys)
    })
    await new Promise((resolve) => child.once('close', resolve))
    return said
  }

  it('it asks, and does it when the answer is yes', async () => {
    const home = homeWith({ 'gemini-settings': '{}' })
    expect(await answering(home, 'y')).toContain('Set up Gemini CLI')
    expect(readFileSync(join(home, paths['gemini-settings']), 'utf8')).toContain('hook.sh')
  })

  it("it says how Claude Code's own messages reach the agents, where Claude Code was set up", async () => {
    const home = homeWith({ 'claude-settings': settings })
    expect(await answering(home, 'y')).toContain('bridge claude-sessions')
  })

  it('it asks, and changes nothing when the answer is no or Ctrl-C', async () => {
    const home = homeWith({ 'gemini-settings': '{}' })
    expect(await answering(home, 'n')).toContain('Nothing was changed')
    await answering(home, '\u0003')
    expect(readFileSync(join(home, paths['gemini-settings']), 'utf8')).toBe('{}')
    expect(existsSync(join(home, '.mailbox'))).toBe(false)
  })
})

describe('doctor', () => {
  interface Check {
    check: string
    state: string
    found: string
    next?: string
  }
  const doctor = (home: string): Record<string, Check> => {
    const { checks } = JSON.parse(mailbox(home, 'doctor', '--json').stdout) as { checks: Check[] }
    return Object.fromEntries(checks.map((each) => [each.check, each]))
  }

  it('tells what to do for each client, from not set up to running and gone', () => {
    const home = homeWith({ 'gemini-settings': '{}' })
    put(home, 'bin/gemini', '#!/bin/sh\n')
    chmodSync(join(home, 'bin/gemini'), 0o755)
    expect(doctor(home)['gemini']).toMatchObject({
      state: 'warn',
      next: expect.stringContaining('init --client gemini'),
    })
    expect(doctor(home)['claude']).toBeUndefined()
    mailbox(home, 'init', '--yes')
    mailbox(home, 'join', 'ada')
    expect(doctor(home)['gemini']).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('no hook has run'),
    })
    // The command that init wrote, as Gemini CLI runs it.
    const { hooks } = JSON.parse(readFileSync(join(home, paths['gemini-settings']), 'utf8')) as {
      hooks: Record<string, { hooks: { command: string }[] }[]>
    }
    const { command } = hooks['SessionStart']![0]!.hooks[0]!
    const input = JSON.stringify({
      session_id: 'one',
      hook_event_name: 'SessionStart',
      source: 'startup',
      cwd: home,
    })
    expect(spawnSync('sh', ['-c', command], { cwd: home, env: envOf(home), input }).status).toBe(0)
    expect(doctor(home)['gemini']).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('set up; a hook last ran '),
    })
    rmSync(join(home, 'bin/gemini'))
    expect(doctor(home)['gemini']).toMatchObject({ state: 'ok' })
    const longAgo = Date.now() / 1_000 - 90 * 86_400
    utimesSync(join(home, '.mailbox/hooks/gemini.last'), longAgo, longAgo)
    expect(doctor(home)['gemini']).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('there is no gemini on the PATH'),
      next: expect.stringContaining('uninit --client gemini'),
    })
  })

  it('sees which hooks Codex trusts without starting it, which would fill its home', () => {
    const home = homeWith({ 'codex-config': '' })
    put(home, 'bin/codex', '#!/bin/sh\ntouch "$HOME/started"\n')
    chmodSync(join(home, 'bin/codex'), 0o755)
    mailbox(home, 'init', '--yes')
    expect(doctor(home)['codex']).toMatchObject({
      state: 'warn',
      found: 'set up, but Codex skips 7 of 7 hooks: not trusted',
    })
    expect(existsSync(join(home, 'started'))).toBe(false)
  })

  it('says that there is no client, and that a file is no space', () => {
    const home = homeWith()
    put(home, '.mailbox', 'not a directory')
    expect(doctor(home)).toMatchObject({
      clients: { state: 'ok', found: 'no agent client is installed on this machine' },
      space: { state: 'fail', found: expect.stringContaining('.mailbox is not a directory') },
    })
  })

  it('sees hooks that lead nowhere, are switched off, of another copy, doubled, or in a broken file', () => {
    const home = homeWith({ 'claude-settings': '{}' })
    mailbox(home, 'init', '--yes')
    const path = join(home, paths['claude-settings'])
    const good = readFileSync(path, 'utf8')
    const finding = (text: string): Check => {
      writeFileSync(path, text)
      return doctor(home)['claude']!
    }
    expect(finding(good.replaceAll(dist, '/gone/dist'))).toMatchObject({
      state: 'fail',
      found: expect.stringMatching(/\/gone\/dist\/hook.sh, which does not exist/),
    })
    expect(finding(good.replace('{', '{ "disableAllHooks": true,'))).toMatchObject({
      state: 'warn',
      found: expect.stringMatching(/disableAllHooks/),
    })
    put(home, 'copy/dist/hook.sh', '')
    expect(finding(good.replaceAll(dist, join(home, 'copy/dist')))).toMatchObject({
      state: 'warn',
      found: expect.stringMatching(/another copy/),
    })
    expect(finding(good.replace('{', '{ "enabledPlugins": { "mailbox@x": true },'))).toMatchObject({
      found: expect.stringMatching(/twice/),
    })
    expect(finding('{ broken')).toMatchObject({
      state: 'fail',
      found: expect.stringMatching(/cannot parse/),
    })
    rmSync(path)
    expect(doctor(home)['claude']).toMatchObject({
      state: 'warn',
      found: expect.stringMatching(/incompletely/),
    })
  })
})
