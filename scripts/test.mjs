// npm test: builds (processes in tests run the built command line), then runs every test.
//   npm test -- test/space       only these files or folders
//   npm run test:quick           the subset for daily work (test/helpers/quick.ts)
//   --built                      what is in dist/ is up to date
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bin, orExit, root, run } from './run.mjs'
import { tally } from './tally.mjs'

const flags = ['--built', '--quick']
const words = process.argv.slice(2)
const has = (flag) => words.includes(flag)
const rest = words.filter((word) => !flags.includes(word))

// The quick subset needs neither type declarations nor a clean folder.
if (!has('--built'))
  orExit(run(process.execPath, ['scripts/build.mjs', ...(has('--quick') ? ['--no-types'] : [])]))
const what = has('--quick') ? 'quick' : rest.length === 0 ? 'all' : 'some'

/** At most so many files are looked at again: more are no accident. */
const againAtMost = 4

function vitest(args, results) {
  const status = run(bin('vitest'), ['run', '--root', root, ...args], {
    TEST_RUN: what,
    TEST_RESULTS: results,
  })
  try {
    return { status, ...JSON.parse(readFileSync(results, 'utf8')) }
  } catch {
    // It has said itself why it did not come to an end.
    process.exit(status || 1)
  }
}

/**
 * Thousands of processes, terminals and browsers share the machine during a whole run. A file that fails then runs
 * once more by itself: what is broken fails again, and what only could not stand the crowd is named at the end.
 */
function again(first, results) {
  const broken = first.files.filter(({ failed }) => failed.length > 0)
  if (what !== 'all' || broken.length === 0 || broken.length > againAtMost || first.errors > 0) return first
  const files = [...first.files]
  const unsteady = []
  let errors = 0
  for (const one of broken) {
    console.log(`\nOnce more, alone: ${one.file} (${one.project})`)
    const second = vitest(['--project', one.project, one.file], results)
    errors += second.errors
    const found = second.files.find(({ file }) => file === one.file)
    if (found === undefined) continue
    files[files.indexOf(one)] = found
    const stillFailed = new Set(found.failed)
    unsteady.push(
      ...one.failed.filter((name) => !stillFailed.has(name)).map((name) => `${one.file}: ${name}`),
    )
  }
  return { files, errors, unsteady }
}

const scratch = mkdtempSync(join(tmpdir(), 'agent-mailbox-results-'))
const results = join(scratch, 'results.json')
const first = vitest(rest, results)
const whole = again(first, results)
rmSync(scratch, { recursive: true, force: true })
process.stdout.write(tally(whole.files, whole))
const isClean = whole.errors === 0 && whole.files.every(({ failed }) => failed.length === 0)
// Vitest also fails for other reasons, such as a file that does not exist.
process.exit(isClean && (first.status === 0 || whole !== first) ? 0 : 1)
