import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url).pathname
const src = join(root, 'src')

/** Which rooms a room may import from, besides itself and the files every room shares. */
const arrows: Record<string, readonly string[]> = {
  model: [],
  protocol: ['model'],
  command: ['model', 'protocol'],
  journal: ['model'],
  index: ['model', 'journal', 'protocol'],
  query: ['model', 'journal', 'index', 'protocol'],
  delivery: ['model', 'journal', 'index', 'query', 'protocol'],
}
/** Rims talk to the space, to the words, and to nobody else. */
const rims = ['cli', 'mcp', 'hooks', 'setup', 'http', 'tmux']
/** The command line is where the other rims are started from. */
const startedBy: Record<string, readonly string[]> = {
  'cli/verbs/mcp.ts': ['mcp'],
  'cli/verbs/hook.ts': ['hooks'],
  'cli/verbs/init.ts': ['setup'],
  'cli/checkup.ts': ['setup'],
  'cli/verbs/tmux.ts': ['tmux'],
  'cli/verbs/serve.ts': ['http', 'mcp'],
  'cli/verbs/token.ts': ['http'],
  'cli/verbs/demo.ts': ['http', 'demo'],
}
const rimMayImport = [
  'model',
  'protocol',
  'talk',
  'config.ts',
  'errors.ts',
  'space.ts',
  'mailbox.ts',
  'survey.ts',
  'trace.ts',
  'wire',
  'mod.ts',
]
const shared = ['errors.ts', 'sqlite.ts', 'clock.ts']

function sources(): string[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(src, file))
}

interface Import {
  specifier: string
  typeOnly: boolean
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8')
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)/g,
  )
  return [...found].map((match) => ({ specifier: match[2] ?? match[3]!, typeOnly: match[1] !== undefined }))
}

const roomOf = (file: string): string => relative(src, file).split('/')[0]!

describe('the house', () => {
  it('has imports that point one way', () => {
    const wrong: string[] = []
    for (const file of sources()) {
      const room = roomOf(file)
      for (const { specifier, typeOnly } of importsOf(file)) {
        if (!specifier.startsWith('.')) continue
        const target = roomOf(join(dirname(file), specifier))
        const isRim = rims.includes(room)
        if (startedBy[relative(src, file)]?.includes(target)) continue
        const allowed = isRim ? [...rimMayImport, room] : [...(arrows[room] ?? []), room, ...shared]
        const isWiring = !isRim && arrows[room] === undefined
        // What crosses a rim as a type leaves nothing behind at run time.
        if (!(allowed.includes(target) || isWiring || (isRim && typeOnly))) {
          wrong.push(`${relative(root, file)} imports ${specifier}`)
        }
        if (isWiring && rims.includes(target)) wrong.push(`${relative(root, file)} imports the rim ${target}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('lets one file alone know the SQLite driver', () => {
    const knowing = sources().filter((file) =>
      importsOf(file).some(({ specifier }) => specifier === 'libsql'),
    )
    const requiring = sources().filter((file) => readFileSync(file, 'utf8').includes("('libsql')"))
    expect([...new Set([...knowing, ...requiring])].map((file) => relative(src, file))).toEqual(['sqlite.ts'])
  })

  it('keeps SQL out of the rims', () => {
    const speaking = sources()
      .filter((file) => rims.includes(roomOf(file)))
      .filter((file) =>
        /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b/.test(readFileSync(file, 'utf8')),
      )
    expect(speaking).toEqual([])
  })

  it('is made of small files', () => {
    const lengths = sources()
      .map((file) => readFileSync(file, 'utf8').split('\n').length)
      .sort((a, b) => a - b)
    expect(lengths[lengths.length >> 1]).toBeLessThan(90)
  })

  it('needs no install script of any package that comes with it', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>
    }
    const scripted = Object.entries(lock.packages).filter(
      ([, { dev, hasInstallScript }]) => !dev && hasInstallScript,
    )
    expect(scripted).toEqual([])
  })

  it('names only codes that exist', () => {
    const codes = readFileSync(join(src, 'errors.ts'), 'utf8')
    const used = new Set<string>()
    for (const file of sources()) {
      for (const match of readFileSync(file, 'utf8').matchAll(/new MailboxError\(\s*'(\w+)'/g))
        used.add(match[1]!)
    }
    for (const code of used) expect(codes).toContain(`  ${code}: '`)
  })
})
