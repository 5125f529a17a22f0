import {
  closeSync,
  existsSync,
  constants as files,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { Script } from 'node:vm'
import { writeFileAtomically } from './files.ts'

/**
 * Loads the bundles of this program, and keeps their compiled code between runs: a command lives for 50 ms, and would
 * spend a third of it compiling. Node has this since version 22, in the directory of temporary files; this is for all
 * versions, and beside the keys of the person: whoever can write there can act as anybody.
 *
 * Compiled code is run as it is, so a file of it counts only if it cannot be anything else: it is ours and in a
 * directory of ours, it was made by this version of Node with the same options, and it holds the very text of the bundle.
 * V8 does not find damage in it, so the code is there twice. In doubt the text is compiled.
 */
interface Loaders {
  /** For everything that is not a file of this program. */
  require: (name: string) => unknown
  /** The same for modules: compiled code that was kept cannot do this by itself. */
  import: (name: string) => Promise<unknown>
}

/** Less than this is compiled as fast as it is read. */
const worthKeeping = 16_384
/** What has run for longer has forgotten some of what it compiled. */
const youngS = 10
/** Files of programs that have been removed. */
const unusedForMs = 30 * 86_400_000

interface Loaded {
  script: Script
  source: Buffer
  /** Where the code is kept. */
  path: string
  /** What it was run for before: the code of each of them has been compiled. */
  runs: readonly string[]
}

export class CodeCache {
  readonly #loaders: Loaders
  readonly #dir: string | undefined
  readonly #maker: Buffer
  readonly #modules = new Map<string, { exports: unknown }>()
  readonly #loaded: Loaded[] = []
  #run = ''

  constructor(loaders: Loaders, env: NodeJS.ProcessEnv = process.env) {
    this.#loaders = loaders
    this.#dir = usableDir(env)
    const options = [process.execArgv, env['NODE_OPTIONS'] ?? '']
    this.#maker = Buffer.from(
      `${JSON.stringify([2, process.version, process.arch, process.execPath, options])}\n`,
    )
    if (this.#dir !== undefined) process.once('exit', () => this.#keep(this.#dir!))
  }

  /** Says what this process does: what another command needs has to be compiled once as well. */
  runs(name: string): void {
    this.#run = name
  }

  /** The same with how many files were needed for it: a command with mail loads more than one without. */
  get #name(): string {
    return `${this.#run}.${this.#modules.size}`
  }

  /** The exports of a bundle. */
  load<T>(path: string): T {
    const known = this.#modules.get(path)
    if (known !== undefined) return known.exports as T
    const module = { exports: {} as unknown }
    this.#modules.set(path, module)
    const dir = dirname(path)
    const require = (name: string) => {
      if (name.startsWith('.')) return this.load(join(dir, name))
      const load = () => this.#loaders.require(name)
      return slow.has(name) ? whenUsed(load as () => object) : load()
    }
    require.import = this.#loaders.import
    const wrapped = this.#compile(path).runInThisContext() as (...words: unknown[]) => void
    wrapped.call(module.exports, module.exports, require, module, path, dir, clock)
    return module.exports as T
  }

  #compile(path: string): Script {
    const source = readFileSync(path)
    const file = this.#dir && source.length >= worthKeeping ? this.#fileFor(this.#dir, path) : undefined
    const kept = file && this.#read(file, source)
    const script = new Script(wrap(source), {
      filename: path,
      ...(kept && { cachedData: kept.code }),
    })
    if (file !== undefined) {
      const runs = kept && !script.cachedDataRejected ? kept.runs : []
      this.#loaded.push({ script, source, path: file, runs })
    }
    return script
  }

  /** Programs in several places, and several versions of Node, do not replace the code of each other. */
  #fileFor(dir: string, path: string): string {
    return join(dir, `${basename(path)}-${shortHash(`${dirname(path)}${this.#maker}`)}`)
  }

  /** The code of a bundle, if it is there and nothing is wrong with it. */
  #read(path: string, source: Buffer): { code: Buffer; runs: string[] } | undefined {
    const kept = readOwn(path)
    if (kept === undefined || !startsWith(kept, 0, this.#maker)) return undefined
    const runsAt = this.#maker.length
    const sourceAt = kept.indexOf(10, runsAt) + 1
    if (sourceAt === 0 || !startsWith(kept, sourceAt, source)) return undefined
    const codeAt = sourceAt + source.length
    const middle = (codeAt + kept.length) / 2
    const code = kept.subarray(codeAt, middle)
    if (code.length === 0 || !code.equals(kept.subarray(middle))) return undefined
    return { code, runs: kept.toString('latin1', runsAt, sourceAt - 1).split(' ') }
  }

  /** Keeps what was compiled in this run and was not kept before. Nothing depends on it. */
  #keep(dir: string): void {
    const name = this.#name
    const isNew = ({ runs }: Loaded) => !runs.includes(name)
    if (process.uptime() > youngS || !this.#loaded.some(isNew)) return
    try {
      makeDir(dir)
      for (const { script, source, path, runs } of this.#loaded.filter(isNew)) {
        const code = script.createCachedData()
        const names = Buffer.from(`${[...runs, name].join(' ')}\n`)
        writeFileAtomically(path, Buffer.concat([this.#maker, names, source, code, code]))
      }
      sweep(dir)
    } catch {
      // A home that cannot be written to.
    }
  }
}

/** Parts of Node that take a millisecond or more to load, and that many commands do without. */
const slow = new Set(
  'child_process crypto fs/promises http https net perf_hooks stream timers/promises tls worker_threads zlib'
    .split(' ')
    .flatMap((name) => [name, `node:${name}`]),
)

/** Stands for a module until one of its exports is used. */
function whenUsed(load: () => object): object {
  let loaded: object | undefined
  const get = () => (loaded ??= load())
  return new Proxy(
    {},
    {
      get: (_, key) => Reflect.get(get(), key),
      has: (_, key) => Reflect.has(get(), key),
      ownKeys: () => Reflect.ownKeys(get()),
      getOwnPropertyDescriptor(_, key) {
        const found = Reflect.getOwnPropertyDescriptor(get(), key)
        return found && { ...found, configurable: true }
      },
    },
  )
}

/** The clock of `performance`. Node loads ten modules when that is first looked at. */
const clock = new Proxy(
  { now: () => process.uptime() * 1_000 },
  { get: (own, key) => Reflect.get(key === 'now' ? own : performance, key) },
)

const wrap = (source: Buffer): string =>
  `(function (exports, require, module, __filename, __dirname, performance) { ${source.toString()}\n})`

const startsWith = (bytes: Buffer, at: number, start: Buffer): boolean =>
  bytes.length >= at + start.length && bytes.subarray(at, at + start.length).equals(start)

/** FNV-1a: only names differ by it. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

/**
 * Where the code is kept; undefined where it is not, or is not safe from others. The variables are those of Node's own
 * cache.
 */
function usableDir(env: NodeJS.ProcessEnv): string | undefined {
  const { NODE_DISABLE_COMPILE_CACHE: off, NODE_V8_COVERAGE: coverage, HOME: home } = env
  const config = env['XDG_CONFIG_HOME'] || (home && join(home, '.config'))
  const dir = env['NODE_COMPILE_CACHE'] || (config && join(config, 'agent-mailbox', 'code'))
  // The maps of the source are found by Node's own loader only.
  if (!dir || !isAbsolute(dir) || off || coverage || process.sourceMapsEnabled) return undefined
  try {
    const found = lstatSync(dir, { throwIfNoEntry: false })
    return found === undefined || (found.isDirectory() && isOnlyOurs(found)) ? dir : undefined
  } catch {
    return undefined
  }
}

const isOnlyOurs = ({ uid, mode }: Stats): boolean => uid === process.geteuid?.() && (mode & 0o022) === 0

function readOwn(path: string): Buffer | undefined {
  let fd: number | undefined
  try {
    fd = openSync(path, files.O_RDONLY | files.O_NOFOLLOW)
    const found = fstatSync(fd)
    return found.isFile() && isOnlyOurs(found) ? readFileSync(fd) : undefined
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Not `recursive`: that never ends where nothing can be created, as in /proc. */
function makeDir(dir: string): void {
  for (const path of [dirname(dirname(dir)), dirname(dir), dir])
    if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
}

function sweep(dir: string): void {
  const before = Date.now() - unusedForMs
  for (const file of readdirSync(dir))
    if (statSync(join(dir, file)).mtimeMs < before) rmSync(join(dir, file), { force: true })
}
