import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { skipTest } from './skip.ts'
import { hasTool } from './tools.ts'
import { until } from './wait.ts'

/** Where Debian and others put the server's programs; they are not on the PATH. */
function programsDir(): string | undefined {
  const all = '/usr/lib/postgresql'
  const versions = existsSync(all) ? readdirSync(all).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions
    .map((version) => join(all, version, 'bin'))
    .find((dir) => existsSync(join(dir, 'initdb')))
  if (found !== undefined) return found
  const path = hasTool('initdb') ? execFileSync('sh', ['-c', 'command -v initdb'], { encoding: 'utf8' }) : ''
  return path === '' ? undefined : join(path.trim(), '..')
}

export const hasPostgres = (): boolean => programsDir() !== undefined

export interface ServerOptions {
  /** Lines of postgresql.conf, for every start. */
  settings?: readonly string[]
  /** Lines of pg_hba.conf, before the usual ones. */
  access?: readonly string[]
  /** Files for its data directory, which only the server may read. */
  files?: Readonly<Record<string, string>>
}

/** A server of PostgreSQL on a directory and a port of its own. */
export class PostgresServer {
  readonly dir: string
  readonly port: number
  #child: ChildProcess | undefined

  readonly #settings: readonly string[]

  private constructor(dir: string, port: number, settings: readonly string[] = []) {
    this.dir = dir
    this.port = port
    this.#settings = settings
  }

  static async create(dir: string, options: ServerOptions = {}): Promise<PostgresServer> {
    const server = new PostgresServer(dir, await freePort(), options.settings)
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const { uid, gid } = serverOwner()
    if (uid !== undefined) chownSync(dir, uid, gid!)
    const words = [
      '-D',
      join(dir, 'data'),
      '-U',
      'tester',
      '-E',
      'UTF8',
      '--locale=C',
      '--auth=trust',
      '--no-sync',
    ]
    execFileSync(join(programsDir()!, 'initdb'), words, { uid, gid, stdio: 'ignore', cwd: dir })
    const usual = ['host all secretive 127.0.0.1/32 scram-sha-256', 'host all all 127.0.0.1/32 trust']
    const hba = [...(options.access ?? []), ...usual]
    writeFileSync(
      join(dir, 'data', 'pg_hba.conf'),
      `${hba.join('\n')}\nlocal all all trust\nhost replication all 127.0.0.1/32 trust\n`,
    )
    for (const [name, text] of Object.entries(options.files ?? {})) {
      const path = join(dir, 'data', name)
      writeFileSync(path, text, { mode: 0o600 })
      if (uid !== undefined) chownSync(path, uid, gid!)
    }
    await server.start()
    return server
  }

  /** Another server that follows this one, and has everything that it has when this returns. */
  async standby(dir: string): Promise<PostgresServer> {
    const standby = new PostgresServer(dir, await freePort(), this.#settings)
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const { uid, gid } = serverOwner()
    if (uid !== undefined) chownSync(dir, uid, gid!)
    const words = ['-h', '127.0.0.1', '-p', `${this.port}`, '-U', 'tester', '-D', join(dir, 'data')]
    execFileSync(
      join(programsDir()!, 'pg_basebackup'),
      [...words, '-R', '-X', 'stream', '-c', 'fast', '-N'],
      {
        ...{ uid, gid, cwd: dir, stdio: 'ignore' },
      },
    )
    await standby.start()
    return standby
  }

  /** Settings besides those that every test wants. */
  async start(...settings: string[]): Promise<void> {
    const usual = [
      ...['fsync=off', 'full_page_writes=off', 'max_connections=200', 'shared_buffers=32MB'],
      ...['listen_addresses=127.0.0.1', `port=${this.port}`, `unix_socket_directories=${this.dir}`],
    ]
    const words = [...usual, ...this.#settings, ...settings].flatMap((one) => ['-c', one])
    const { uid, gid } = serverOwner()
    const child = spawn(join(programsDir()!, 'postgres'), ['-D', join(this.dir, 'data'), ...words], {
      ...{ uid, gid, cwd: this.dir, stdio: ['ignore', 'ignore', 'pipe'] },
    })
    this.#child = child
    let said = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr!.on('data', (text) => {
        said = `${said}${text}`.slice(-10_000)
        if (/ready to accept/.test(said)) resolve()
      })
      child.once('exit', () => reject(new Error(`the server ended: ${said}`)))
      child.once('error', reject)
    })
  }

  get pid(): number {
    return this.#child!.pid!
  }

  /** `SIGQUIT` leaves as little as a kill does, and takes the server's children along. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }

  address(space: string, { user = 'tester', database = 'postgres', more = '' } = {}): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}?space=${space}${more}`
  }

  sql(text: string, database = 'postgres'): string {
    return psql(this.port, text, database)
  }
}

/** A program of PostgreSQL's, such as pg_dump. */
export const serverProgram = (name: string): string => join(programsDir()!, name)

export function psql(port: number, text: string, database = 'postgres'): string {
  const words = [
    '-h',
    '127.0.0.1',
    '-p',
    `${port}`,
    '-U',
    'tester',
    '-d',
    database,
    '-qAt',
    '-v',
    'ON_ERROR_STOP=1',
    '-c',
    text,
  ]
  return execFileSync('psql', words, {
    encoding: 'utf8',
    env: { ...process.env, PGCONNECT_TIMEOUT: '5' },
  }).trim()
}

/** PostgreSQL refuses to run as root. */
export function serverOwner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const ask = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: ask('-u'), gid: ask('-g') }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

const variable = 'TEST_POSTGRES'

/** Where the server of this run of the tests is, or will be when the first test needs it. */
export function planServer(): void {
  process.env[variable] = join(tmpdir(), `mailbox-postgres-${randomUUID().slice(0, 8)}`)
}

/** Ends the server of this run, if a test has started it. */
export async function endServer(): Promise<void> {
  const dir = process.env[variable]!
  const pidFile = join(dir, 'server', 'data', 'postmaster.pid')
  if (!existsSync(dir)) return
  if (existsSync(pidFile)) {
    const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
    process.kill(pid, 'SIGQUIT')
    await until('the server has ended', () => !existsSync(pidFile))
  }
  rmSync(dir, { recursive: true, force: true })
}

/** The server that all tests of a run share: each has a space, or a database, of its own. */
export async function sharedServer(): Promise<{ port: number }> {
  if (!hasPostgres()) skipTest('needs PostgreSQL: run `apt-get install -y postgresql` as root')
  const dir = process.env[variable]!
  const ready = join(dir, 'port')
  try {
    mkdirSync(dir, { mode: 0o711 })
    const server = await PostgresServer.create(join(dir, 'server'))
    writeFileSync(`${ready}.new`, `${server.port}`)
    execFileSync('mv', [`${ready}.new`, ready])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    await until('the server is ready', () => existsSync(ready))
  }
  return { port: Number(readFileSync(ready, 'utf8')) }
}

/** The address of a space that no other test has. */
export async function freshAddress(): Promise<string> {
  const { port } = await sharedServer()
  return `postgres://tester@127.0.0.1:${port}/postgres?space=t-${randomUUID().slice(0, 13)}`
}
