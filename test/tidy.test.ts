import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url).pathname
const src = join(root, 'src')

interface Room {
  /** Rooms whose code it runs. */
  uses: readonly string[]
  /** Rooms of which it needs only types, which leave nothing behind at run time. */
  types?: readonly string[]
}

/**
 * Which rooms a room may import from, besides itself. Every folder of src/ has a row, and an allowance that
 * nothing uses any more fails, so that this table stays a description of the house.
 */
const rooms: Record<string, Room> = {
  base: { uses: [] },
  model: { uses: ['base'] },
  conversation: { uses: ['base', 'model'] },
  command: { uses: ['base', 'model', 'conversation'] },
  journal: { uses: ['base', 'model'] },
  index: { uses: ['base', 'model', 'conversation', 'journal'] },
  query: { uses: ['base', 'model', 'conversation', 'journal', 'index'] },
  delivery: { uses: ['base', 'model', 'query'], types: ['journal'] },
  desk: { uses: ['base'] },
  space: {
    uses: [
      ...[
        'base',
        'model',
        'conversation',
        'command',
        'journal',
        'index',
        'query',
        'delivery',
        'desk',
        'remote',
      ],
    ],
  },
  agent: { uses: ['base', 'model', 'conversation'], types: ['query', 'space'] },
  api: { uses: ['base', 'model', 'conversation', 'agent', 'query', 'space'], types: ['command', 'delivery'] },
  remote: { uses: ['base', 'model', 'api', 'delivery'], types: ['command', 'query', 'space'] },
  // The rims. They reach the mailbox through the space, and never import one another.
  clients: { uses: ['base', 'model', 'agent', 'space'], types: ['query'] },
  mcp: { uses: ['base', 'model', 'conversation', 'agent', 'api'], types: ['query', 'space'] },
  tmux: { uses: ['base', 'model', 'conversation', 'agent', 'space'], types: ['query'] },
  hub: { uses: ['base', 'model', 'api', 'space'], types: ['query'] },
  demo: { uses: ['base', 'mod.ts', 'model', 'conversation', 'space'] },
  bridges: { uses: ['base', 'model', 'conversation', 'space'] },
  // The command line is where the other rims are started from.
  cli: {
    uses: [
      'base',
      'model',
      'conversation',
      'agent',
      'desk',
      'space',
      'clients',
      'mcp',
      'tmux',
      'hub',
      'demo',
      'bridges',
    ],
    types: ['query', 'journal'],
  },
  'mod.ts': {
    uses: ['base', 'model', 'conversation', 'agent', 'space'],
    types: ['command', 'query', 'delivery', 'remote'],
  },
}
const rims = ['clients', 'mcp', 'tmux', 'hub', 'demo', 'bridges', 'cli']

/** The longest a source file may be, and those that are longer for a reason. */
const maxLines = 300
const longFiles: Record<string, string> = {}

interface Import {
  specifier: string
  typeOnly: boolean
}

interface Source {
  /** Below src/. */
  file: string
  room: string
  text: string
  imports: Import[]
}

function readSources(): Source[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => {
      const text = readFileSync(join(src, file), 'utf8')
      return { file, room: file.split('/')[0]!, text, imports: importsOf(text) }
    })
}

function importsOf(text: string): Import[] {
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|(typeof\s+)?import\(\s*'([^']+)'\s*\)/g,
  )
  return [...found].map((match) => ({
    specifier: match[2] ?? match[4]!,
    typeOnly: (match[1] ?? match[3]) !== undefined,
  }))
}

const sources = readSources()
const linesOf = ({ text }: Source) => text.split('\n').length - 1

/** Every import of another room, with the room it reaches. */
const crossings = sources.flatMap(({ file, room, imports }) =>
  imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, typeOnly }) => {
      const target = relative(src, join(src, dirname(file), specifier)).split('/')[0]!
      return { file, room, target, typeOnly, specifier }
    })
    .filter(({ room, target }) => room !== target),
)

describe('the house', () => {
  it('gives every folder a row, and every row a folder', () => {
    expect(Object.keys(rooms).sort()).toEqual([...new Set(sources.map(({ room }) => room))].sort())
  })

  it('has imports that point one way', () => {
    const wrong = crossings.filter(({ room, target, typeOnly }) => {
      const { uses, types = [] } = rooms[room]!
      return !(uses.includes(target) || (typeOnly && types.includes(target)))
    })
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([])
  })

  it('allows nothing that is not needed', () => {
    const idle = Object.entries(rooms).flatMap(([room, { uses, types = [] }]) => {
      const mine = crossings.filter((crossing) => crossing.room === room)
      const isUsed = (target: string) => mine.some((one) => one.target === target && !one.typeOnly)
      const isNamed = (target: string) => mine.some((one) => one.target === target)
      return [
        ...uses.filter((target) => !isUsed(target)).map((target) => `${room} does not use ${target}`),
        ...types
          .filter((target) => uses.includes(target) || !isNamed(target))
          .map((target) => `${room} need not name types of ${target}`),
      ]
    })
    expect(idle).toEqual([])
  })

  it('lets one file alone know the SQLite driver', () => {
    const knowing = sources.filter(
      ({ text, imports }) =>
        imports.some(({ specifier }) => specifier === 'libsql') || text.includes("('libsql')"),
    )
    // This one finds its native library.
    expect(knowing.map(({ file }) => file)).toEqual(['base/driver-target.ts', 'base/sqlite.ts'])
  })

  it('replaces files in one place', () => {
    const renaming = sources.filter(({ text }) => /\brename(Sync)?\(/.test(text)).map(({ file }) => file)
    // These two move a file that exists, and write none.
    const moving = ['clients/hook/handover-note.ts', 'clients/hook/log.ts']
    expect(renaming.sort()).toEqual(['base/files.ts', ...moving])
  })

  it('reads the state of processes in one place', () => {
    const reading = sources.filter(({ text }) => /\/proc\/[^\s']*\/stat\b/.test(text))
    expect(reading.map(({ file }) => file)).toEqual(['base/process.ts'])
  })

  it('keeps SQL out of the rims', () => {
    const speaking = sources.filter(
      ({ room, text }) =>
        rims.includes(room) && /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b/.test(text),
    )
    // A bridge keeps what it knows in a database of its own, and asks the space in words.
    expect(speaking.map(({ file }) => file)).toEqual(['bridges/memory.ts'])
  })

  it('is made of small files', () => {
    const lengths = sources.map(linesOf).sort((a, b) => a - b)
    expect(lengths[lengths.length >> 1]).toBeLessThan(80)
    const long = sources.filter((source) => linesOf(source) > maxLines).map(({ file }) => file)
    expect(long.sort()).toEqual(Object.keys(longFiles).sort())
  })

  it('has one file at its root', () => {
    expect(sources.filter(({ file }) => !file.includes('/')).map(({ file }) => file)).toEqual(['mod.ts'])
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

  it('names only error codes that exist', () => {
    const codes = readFileSync(join(src, 'base/errors.ts'), 'utf8')
    const used = sources.flatMap(({ text }) =>
      [...text.matchAll(/new MailboxError\(\s*'(\w+)'/g)].map((match) => match[1]!),
    )
    for (const code of new Set(used)) expect(codes).toContain(`  ${code}: '`)
  })
})

/** Tests that let real time pass, and why no event would do. */
const timed: Record<string, string> = {
  'agent/agent.test.ts': 'work takes longer than a lease',
  'agent/going-on.test.ts': 'the claim of a stopped process lasts',
  'agent/lead.test.ts': 'a lease must be renewed several times',
  'agent/one-task.test.ts': 'something must not happen',
  'agent/team.test.ts': 'kills and messages at moments chosen by chance',
  'bridges/storm.test.ts': 'kills at moments chosen by chance',
  'claims/campaign.test.ts': 'kills and stops at moments chosen by chance',
  'clients/claude-wake.test.ts': 'something must not happen',
  'clients/hook/storm.test.ts': 'mail comes in showers, with pauses',
  'clients/hook/waiting.test.ts': 'something must not happen',
  'clients/real/claude.test.ts': 'the journal of a real client must come to rest',
  'crash/boot.ts': 'the power goes at a moment chosen by chance',
  'crash/files.test.ts': 'files go at moments chosen by chance',
  'crash/kills.test.ts': 'kills at moments chosen by chance',
  'desk/desk.test.ts': 'something must not happen',
  'desk/kills.test.ts': 'kills and stops at moments chosen by chance',
  'postgres/machines.test.ts': 'something must not happen',
  'helpers/wait.ts': 'where waiting is written',
  'helpers/with-desk.ts': 'a desk is late at moments chosen by chance',
  'hub/serve.test.ts': 'a writer with a pace',
  'hub/stream.test.ts': 'a writer with a pace',
  'life/chaos.test.ts': 'kills at a pace',
  'life/workers.test.ts': 'kills at a pace',
  'mcp/fixtures.ts': 'the conformance suite wants slow answers',
  'mcp/task-fixtures.ts': 'the conformance suite wants slow answers',
  'postgres/hub-kills.test.ts': 'a writer and kills with a pace',
  'postgres/storm.test.ts': 'faults at a pace',
  'tmux/exec.test.ts': 'something must not happen',
  'tmux/kill.test.ts': 'kills at moments chosen by chance',
  'tmux/shell.test.ts': 'something must not happen',
  'tmux/typing.test.ts': 'something must not happen',
}

const testFiles = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('tidy.'))
  .map((file) => ({ file, text: readFileSync(join(root, 'test', file), 'utf8') }))

describe('the tests', () => {
  it('wait for events, and let time pass only where no event would do', () => {
    const waiting = testFiles.filter(({ text }) => /\bletPass\(/.test(text)).map(({ file }) => file)
    expect(waiting.sort()).toEqual(Object.keys(timed).sort())
    // Everything else is written once, in helpers/wait.ts. A limit on a promise is no wait.
    const others = testFiles.filter(
      ({ file, text }) =>
        !/^helpers\/(wait|scene)\.ts$/.test(file) &&
        /timers\/promises|\(resolve\) => setTimeout|setTimeout\(resolve|waitForTimeout/.test(text),
    )
    expect(others.map(({ file }) => file)).toEqual([])
  })

  it('take what several rooms use from test/helpers', () => {
    const shared = ['helpers', 'contract']
    const strays = testFiles.flatMap(({ file, text }) =>
      importsOf(text)
        .filter(({ specifier }) => specifier.startsWith('..'))
        .map(({ specifier }) => relative(join(root, 'test'), join(root, 'test', dirname(file), specifier)))
        .filter(
          (path) => !path.startsWith('..') && ![...shared, file.split('/')[0]!].includes(path.split('/')[0]!),
        )
        .map((path) => `${file} imports ${path}`),
    )
    expect(strays).toEqual([])
  })
})
