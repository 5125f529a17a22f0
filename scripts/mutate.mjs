// npm run mutate: changes the code in small ways, one at a time, and asks the tests of its room whether they notice.
//   npm run mutate                         every room
//   npm run mutate -- model journal        these rooms
//   npm run mutate -- src/model/time.ts    these files
//   npm run mutate -- --since main         the files that differ from a commit
//   --survivors                            of files that have not changed since they were measured, only what survived
//   --report                               run nothing: print what earlier runs found (test-output/mutation/)
// The parts that are about PostgreSQL need its server: apt-get install -y postgresql
// Ends with 1 if fewer than 85 % of the mutants of a room were noticed.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { root } from './run.mjs'

const inFolder = (folder, ...names) => names.map((name) => `test/${folder}/${name}.test.ts`)

/**
 * The rooms in parts, each with the tests that hold its rules: those that run in one process, as tests of dist/ see no
 * mutant, and that are quick. A file belongs to the first part that fits.
 */
const parts = [
  {
    of: /^src\/model\//,
    tests: ['test/model', 'test/command', ...inFolder('conversation', 'defuse', 'fence', 'render')],
    without: inFolder('model', 'fields', 'json'),
    // Some try many texts.
    slowMs: 5_000,
  },
  {
    of: /^src\/conversation\//,
    tests: [
      ...inFolder('conversation', 'choices', 'defuse', 'fence', 'fence-shape', 'field', 'found-work'),
      ...inFolder('conversation', 'matter', 'outline', 'render', 'says', 'task', 'types'),
      ...inFolder('conversation', 'type-names', 'words'),
      ...inFolder('command', 'overdue', 'settle', 'talk'),
    ],
    slowMs: 5_000,
  },
  {
    // What settles what is told by stories in a whole space.
    of: /^src\/command\/(?:settle|tell-asker|report|moot|take)\./,
    tests: ['test/command', 'test/settling'],
  },
  { of: /^src\/command\//, tests: ['test/command'] },
  {
    // Each of these has tests of its own, which need no journal.
    of: /^src\/journal\/(?:codec|salvage|damage|file\/(?:first-mark|head-mark|line-|open-segments|rotation|segment\.|segment-bytes|segment-order|segment-reader|wake|write-error))/,
    tests: inFolder(
      'journal',
      'codec',
      'damage-names',
      'details',
      'mark',
      'misplaced',
      'parts',
      'places',
      'reader',
      'walk',
    ),
  },
  {
    of: /^src\/journal\/file\/lock/,
    tests: inFolder('journal', 'lock', 'copies', 'disk-faults', 'parts', 'contract'),
    mostTests: 60,
  },
  {
    of: /^src\/journal\/file\/(?:archive|mirror)/,
    tests: inFolder('journal', 'archive', 'copies', 'mirror', 'mirrored-file', 'removal'),
    mostTests: 60,
    // These pack, copy and sync.
    slowMs: 5_000,
  },
  {
    of: /^src\/journal\/file\/segment-file/,
    tests: inFolder('journal', 'segment-file', 'disk-faults'),
  },
  {
    of: /^src\/journal\/repair\//,
    tests: inFolder('journal', 'repair', 'repair-parts', 'repair-plan', 'mirror'),
    mostTests: 120,
  },
  {
    of: /^src\/journal\/file\/(?:chain-check|entry-flaw|loss|scrub|segment-set|verify)/,
    tests: inFolder(
      'journal',
      'damage',
      'damage-names',
      'findings',
      'head',
      'misplaced',
      'mirror',
      'scrub',
      'segment-file',
      'torn',
    ),
    mostTests: 120,
  },
  {
    of: /^src\/journal\/copy\//,
    tests: inFolder('journal', 'line-copy', 'origin', 'whole-lines'),
  },
  {
    // What needs no server.
    of: /^src\/journal\/(?:unreachable|postgres\/(?:address|clock|problem|store-errors))/,
    tests: inFolder('postgres', 'address', 'clock', 'problem'),
  },
  {
    of: /^src\/journal\/postgres\/(?:archive|hello|migrate|schema|shared-files|upload|verify-lines)/,
    tests: inFolder('postgres', 'archive', 'files', 'hello', 'upload'),
    onServer: true,
    mostTests: 60,
    slowMs: 5_000,
  },
  {
    of: /^src\/journal\/postgres\//,
    tests: inFolder('postgres', 'archive', 'contract', 'journal', 'machines'),
    onServer: true,
    // Each has a space of its own in a database.
    mostTests: 20,
    slowMs: 5_000,
  },
  {
    of: /^src\/journal\//,
    tests: ['test/journal'],
    without: inFolder('journal', 'archive', 'flips', 'mirror', 'removal', 'repair', 'modes'),
    // Nearly every test reads and writes lines, and one that survives them all takes a minute.
    mostTests: 60,
  },
]
const rooms = ['model', 'conversation', 'command', 'journal']
const least = 85
const words = process.argv.slice(2)
const since = words.includes('--since') ? words[words.indexOf('--since') + 1] : undefined
const named = words.filter((word) => !word.startsWith('--') && word !== since)
const resultOf = (room) => `${root}test-output/mutation/${room}.json`

function testsOf({ tests, without = [] }) {
  const files = tests.flatMap((path) =>
    path.endsWith('.ts') ? path : readdirSync(root + path).map((file) => `${path}/${file}`),
  )
  return files.filter((file) => file.endsWith('.test.ts') && !without.includes(file))
}

/** The files to mutate in a room. */
function filesOf(room) {
  const all = readdirSync(`${root}src/${room}`, { recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/${room}/${file}`)
  if (since !== undefined) return all.filter((file) => changedSince().includes(file))
  return named.length === 0 || named.includes(room) ? all : all.filter((file) => named.includes(file))
}

function changedSince() {
  const { stdout } = spawnSync('git', ['diff', '--name-only', since], { cwd: root, encoding: 'utf8' })
  return stdout.split('\n')
}

async function mutate(room, part, files) {
  const { Stryker } = await import('@stryker-mutator/core')
  const found = resultOf(`${room}-${process.pid}`)
  const mutated = words.includes('--survivors') ? survivorsIn(room, files) : files
  if (mutated.length === 0) return
  const endServer = part.onServer ? await startServer() : () => {}
  try {
    await new Stryker({
      mutate: mutated,
      testRunner: 'one-process',
      oneProcess: { tests: testsOf(part), mostTests: part.mostTests, slowMs: part.slowMs },
      plugins: [`${root}scripts/mutate-runner.mjs`, `${root}scripts/mutate-texts.mjs`],
      ignorers: ['texts'],
      coverageAnalysis: 'perTest',
      ignorePatterns: ['*', '!src', '!src/**', '!test', '!test/**', '!docs', '!docs/**', '!package.json'],
      tempDirName: `test-output/mutation/sandbox-${process.pid}`,
      concurrency: Number(process.env.MUTATE_CONCURRENCY ?? 1),
      // A busy machine is no endless loop.
      timeoutMS: 20_000,
      disableTypeChecks: false,
      reporters: ['progress-append-only', 'json'],
      jsonReporter: { fileName: found },
      logLevel: 'warn',
      warnings: { unknownOptions: false },
      allowEmpty: true,
    }).runMutationTest()
    keep(room, found)
  } finally {
    await endServer()
  }
}

/** The server of PostgreSQL that all tests of a part share. Not a child of the process that runs them: that one may end. */
async function startServer() {
  const { bundle } = await import('./mutate-runner.mjs')
  const file = `${root}test-output/mutation/server-${process.pid}.mjs`
  await bundle(`${root}test/helpers/postgres.ts`, file)
  const { endServer, planServer, sharedServer } = await import(pathToFileURL(file))
  rmSync(file)
  planServer()
  await sharedServer()
  return endServer
}

const filesIn = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).files : {})
const isSame = (file, known) => known !== undefined && known.source === readFileSync(root + file, 'utf8')
const isAlive = ({ status }) => status === 'Survived' || status === 'NoCoverage'

/** Where mutants survived in files that are as they were; other files as a whole. */
function survivorsIn(room, files) {
  const known = filesIn(resultOf(room))
  return files.flatMap((file) =>
    isSame(file, known[file])
      ? known[file].mutants.filter(isAlive).map(({ location: { start, end } }) => {
          const [from, to] = [start, end].map(({ line, column }) => `${line}:${column - 1}`)
          return `${file}:${from}-${to}`
        })
      : file,
  )
}

/** What was found takes the place of what was known of the same files, or of the same mutants in the same code. */
function keep(room, found) {
  const known = filesIn(resultOf(room))
  const news = filesIn(found)
  const keyOf = ({ location, mutatorName, replacement }) =>
    JSON.stringify([location, mutatorName, replacement])
  for (const [file, { source, mutants }] of Object.entries(news)) {
    if (known[file]?.source !== source) continue
    const tried = new Map(mutants.map((mutant) => [keyOf(mutant), mutant]))
    news[file].mutants = known[file].mutants.map((mutant) => tried.get(keyOf(mutant)) ?? mutant)
  }
  writeFileSync(resultOf(room), JSON.stringify({ files: { ...known, ...news } }))
  rmSync(found)
}

/** What is known of a room: how many mutants ended how, and those that nobody noticed. */
function readResult(room) {
  const { files } = JSON.parse(readFileSync(resultOf(room), 'utf8'))
  const found = Object.entries(files).filter(([file]) => existsSync(root + file))
  const all = found.flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({ ...mutant, file, was: textAt(source, mutant.location) })),
  )
  const count = (status) => all.filter((mutant) => mutant.status === status).length
  const killed = count('Killed')
  const timeout = count('Timeout')
  const survived = count('Survived')
  const uncovered = count('NoCoverage')
  const mutants = killed + timeout + survived + uncovered
  const score = (100 * (killed + timeout)) / mutants
  const alive = all.filter(isAlive)
  return { room, mutants, killed, timeout, survived, uncovered, ignored: count('Ignored'), score, alive }
}

function textAt(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1)
  lines[0] = lines[0].slice(start.column - 1)
  return lines.join('\n')
}

const oneLine = (text) => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 100 ? `${line.slice(0, 99)}…` : line
}

const results = []
for (const room of rooms) {
  const files = filesOf(room)
  if (files.length === 0) continue
  for (const part of words.includes('--report') ? [] : parts) {
    const its = files.filter((file) => parts.find(({ of }) => of.test(file)) === part)
    if (its.length > 0) await mutate(room, part, its)
  }
  if (existsSync(resultOf(room))) results.push(readResult(room))
}
for (const { alive } of results)
  for (const { file, location, mutatorName, was, replacement, status } of alive)
    console.log(
      `${file}:${location.start.line}:${location.start.column} ${status} ${mutatorName}\n  - ${oneLine(was)}\n  + ${oneLine(replacement)}`,
    )
console.log('\nroom          mutants  killed  timeout  survived  not covered  ignored  score')
for (const { room, mutants, killed, timeout, survived, uncovered, ignored, score } of results)
  console.log(
    `${room.padEnd(12)}${[mutants, killed, timeout, survived, uncovered, ignored].map((n, at) => String(n).padStart([9, 8, 9, 10, 13, 9][at])).join('')}  ${score.toFixed(1)} %`,
  )
process.exit(results.every(({ score }) => score >= least) ? 0 : 1)
