/** Brings a fresh machine to where a run can begin. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { packageVersion } from './packages.mjs'
import { onCleanup } from './scratch.mjs'
import { which } from './servers.mjs'

const bench = fileURLToPath(new URL('..', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const say = (text) => process.stderr.write(`${text}\n`)

/** Installs what `npm ci` would, where something is missing. Without a network the peers are skipped. */
export function installPeers() {
  const { dependencies } = JSON.parse(readFileSync(join(bench, 'package.json'), 'utf8'))
  if (Object.entries(dependencies).every(([name, version]) => packageVersion(name) === version)) return
  say('installing the peers (npm ci in bench/)')
  const { status } = npm(bench)
  if (status !== 0) say('npm ci failed; peers that need a package are left out')
}

const npm = (cwd) =>
  spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })

export function installServers() {
  const wanted = ['redis-server', 'nats-server'].filter((program) => which(program) === undefined)
  if (wanted.length === 0) return
  if (process.getuid?.() !== 0 || which('apt-get') === undefined) {
    say(`cannot install ${wanted.join(' and ')}: that takes root and apt-get`)
    return
  }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...wanted]]) {
    spawnSync('apt-get', args, {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
}

/** Builds dist/ unless told not to, and copies it: somebody may build again while we measure. */
export function snapshotLibrary({ build }) {
  if (build) {
    if (!existsSync(join(root, 'node_modules', 'rolldown')) && npm(root).status !== 0)
      throw new Error('npm ci failed')
    say('building dist/')
    execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--no-types'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    })
  }
  // Below bench/, because from there the copy finds its SQLite driver.
  const dir = join(bench, 'node_modules', '.cache', `library-${process.pid}`)
  mkdirSync(dir, { recursive: true })
  onCleanup(() => rmSync(dir, { recursive: true, force: true }))
  cpSync(join(root, 'dist'), dir, {
    recursive: true,
    filter: (path) => !/[\\/]types([\\/]|$)|\.map$/.test(path),
  })
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }\n')
  process.env['BENCH_LIBRARY'] = pathToFileURL(join(dir, 'mod.js')).href
  return { dir, cli: join(dir, 'cli.cjs') }
}

/** Version and commit, as far as git knows it. */
export function describeVersion() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  const head = git('rev-parse', '--short', 'HEAD')
  if (head.status !== 0) return version
  const dirty = git('status', '--porcelain', '--', 'src', 'package.json').stdout !== ''
  return `${version} (${head.stdout.trim()}${dirty ? ' with changes' : ''})`
}
