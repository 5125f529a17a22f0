import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bringPackages } from './install.ts'
import { endServer, hasPostgres, planServer } from './postgres.ts'
import { browserPath, hasTool, systemTools } from './tools.ts'

const lists = '/var/lib/apt/lists'
const listsMaxAgeMs = 24 * 3_600_000

/**
 * Installs what the tests need before the first of them starts: apt-get runs only once at a time, and a download
 * must not count against a test's time limit. What cannot be installed is not an error here: the tests that need
 * it are skipped and say so.
 */
export default async function bringTools(): Promise<() => Promise<void>> {
  planServer()
  await bring()
  return endServer
}

async function bring(): Promise<void> {
  // The quick subset needs none of this.
  if (process.env['TEST_RUN'] === 'quick') return
  await bringSystemTools()
  if (process.env['TEST_RUN'] === 'all') await bringPackages()
}

async function bringSystemTools(): Promise<void> {
  const missing = Object.keys(systemTools).filter((tool) =>
    tool === 'chromium' ? browserPath() === undefined : tool === 'postgres' ? !hasPostgres() : !hasTool(tool),
  )
  if (missing.length === 0) return
  const packages = [...new Set(missing.map((tool) => systemTools[tool]!))]
  const command = `apt-get install -y ${packages.join(' ')}`
  if (process.platform !== 'linux' || !hasTool('apt-get') || process.getuid?.() !== 0) {
    console.log(`Missing: ${missing.join(', ')}. Some tests will be skipped. To run them: sudo ${command}`)
    return
  }
  console.log(`Installing ${packages.join(', ')} for the tests (apt-get)`)
  if (listsAreOld()) await aptGet('update')
  if (await aptGet('install', ...packages)) return
  // The lists may be stale, or one of the packages may not exist on this system.
  await aptGet('update')
  for (const pack of packages)
    if (!(await aptGet('install', pack))) console.log(`Could not install ${pack}: apt-get install -y ${pack}`)
}

function listsAreOld(): boolean {
  const names = existsSync(lists) ? readdirSync(lists).filter((name) => name.includes('_Packages')) : []
  const newest = Math.max(0, ...names.map((name) => statSync(join(lists, name)).mtimeMs))
  // The files keep the time of the server's copy; `partial` changes with every update.
  const updated = existsSync(join(lists, 'partial')) ? statSync(join(lists, 'partial')).mtimeMs : 0
  return names.length === 0 || Date.now() - Math.max(newest, updated) > listsMaxAgeMs
}

/** Runs apt-get, waits for another one to finish, and shows what it does. */
function aptGet(verb: 'update' | 'install', ...packages: string[]): Promise<boolean> {
  const words = ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300', verb, ...packages]
  const child = spawn('apt-get', words, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      if (/^(Get:|Setting up|Fetched|Waiting|E:|Err)/.test(line)) console.log(`  ${line.slice(0, 100)}`)
    })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
}
