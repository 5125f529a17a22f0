import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Where tools of the tests are kept from one run to the next. */
const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'agent-mailbox-tests')

/**
 * A folder in whose `node_modules` packages lie that only tests need, and that are too large or too particular
 * for everybody's `npm ci`. Installed once for each set of names and versions; no install script runs.
 */
export function installed(...specs: readonly string[]): string {
  const dir = join(cache, specs.join('+').replace(/[^\w.@+-]/g, '_'))
  if (existsSync(dir)) return dir
  mkdirSync(cache, { recursive: true })
  // Made aside and put in place in one step: two runs may want it at once, and either may be killed.
  const aside = mkdtempSync(join(cache, '.installing-'))
  try {
    writeFileSync(join(aside, 'package.json'), '{"private":true}')
    // Engines are not looked at: most of these are native programs that no Node runs.
    const flags = ['--force', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const { status, stderr, error } = spawnSync('npm', ['install', ...flags, ...specs], {
      cwd: aside,
      encoding: 'utf8',
    })
    if (status !== 0) {
      const why = (error?.message ?? stderr).trim().split('\n').slice(0, 3).join(' ')
      throw new Error(`these tests need ${specs.join(', ')}, which npm could not install: ${why}`)
    }
    try {
      renameSync(aside, dir)
    } catch (problem) {
      if (!existsSync(dir)) throw problem
    }
    return dir
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

const system = `${process.platform}-${process.arch}`

/** The real agent clients, each at the version whose contract was tried. */
const clients = {
  claude: {
    spec: '@anthropic-ai/claude-code@2.1.325',
    program: `@anthropic-ai/claude-code-${system}/claude`,
  },
  codex: { spec: '@openai/codex@0.166.0', program: `@openai/codex-${system}/vendor/*/bin/codex` },
  gemini: { spec: '@google/gemini-cli@0.61.0', program: '@google/gemini-cli/bundle/gemini.js' },
  opencode: { spec: 'opencode-ai@1.18.33', program: `opencode-${system}/bin/opencode` },
} as const

/** The program of a real client, installed if it is not there yet. */
export function clientProgram(client: keyof typeof clients): string {
  const { spec, program } = clients[client]
  const path = join(installed(spec), 'node_modules', program)
  if (!path.includes('*')) return path
  const [before, after] = path.split('*') as [string, string]
  const [only] = readdirSync(dirname(join(before, 'x')))
  return join(before, only ?? '', after)
}

/** The folder of the agent SDK, to import it from. */
export const agentSdk = (): string =>
  join(installed('@anthropic-ai/claude-agent-sdk@0.3.325'), 'node_modules/@anthropic-ai/claude-agent-sdk')
