/** `npm run bench`: measures everything that we claim, with the peers beside us, and writes a report. */
import { loadavg, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Histories } from './lib/histories.mjs'
import { describeMachine, fileSystemOf } from './lib/machine.mjs'
import { planOf, readOptions, UsageError, usage } from './lib/options.mjs'
import { describeVersion, installPeers, installServers, snapshotLibrary } from './lib/prepare.mjs'
import { Progress } from './lib/progress.mjs'
import { judge, writeReport } from './lib/report.mjs'
import { cleanUp, openScratch, scratchDir } from './lib/scratch.mjs'
import * as bridge from './measures/bridge.mjs'
import * as broadcast from './measures/broadcast.mjs'
import * as consoleView from './measures/console.mjs'
import * as desk from './measures/desk.mjs'
import * as growth from './measures/growth.mjs'
import * as hub from './measures/hub.mjs'
import * as limit from './measures/limit.mjs'
import * as machines from './measures/machines.mjs'
import * as push from './measures/push.mjs'
import * as read from './measures/read.mjs'
import * as rebuild from './measures/rebuild.mjs'
import * as roster from './measures/roster.mjs'
import * as security from './measures/security.mjs'
import * as send from './measures/send.mjs'
import * as startup from './measures/startup.mjs'

// The long histories come last, and what adds to them after what only reads them.
const measures = [
  limit,
  send,
  security,
  broadcast,
  roster,
  push,
  machines,
  hub,
  startup,
  bridge,
  read,
  growth,
  rebuild,
  desk,
  consoleView,
]
const here = dirname(fileURLToPath(import.meta.url))

async function main() {
  const options = readOptions(
    process.argv.slice(2),
    measures.map(({ name }) => name),
  )
  if (options.help) return console.log(usage)
  const started = performance.now()
  const { only } = options
  const needed = measures.filter(({ name }) => only.includes(name)).flatMap(({ needs = [] }) => needs)
  const chosen = measures.filter(
    ({ name }) => only.length === 0 || only.includes(name) || needed.includes(name),
  )
  const parent =
    options.dir ?? (fileSystemOf(tmpdir()) === 'tmpfs' ? join(here, 'node_modules', '.cache') : tmpdir())
  // Before the scratch directory: installing replaces node_modules, where that may lie.
  installPeers()
  openScratch(parent)
  if (options['install-servers']) installServers()
  // To read these certificates takes Node longer than to start, and would hide what we add to that.
  delete process.env['NODE_EXTRA_CA_CERTS']
  // The keys of its agents are not for the configuration of whoever measures.
  process.env['XDG_CONFIG_HOME'] = scratchDir('config')
  const library = snapshotLibrary({ build: !options['no-build'] })

  if (options.profile !== undefined) process.env['BENCH_PROFILE'] = resolve(options.profile)

  const plan = planOf(options)
  const progress = new Progress(chosen.reduce((sum, measure) => sum + measure.steps(plan), 0))
  const skipped = []
  // A report says nothing about where it was made.
  const hide = (text) => text.replaceAll(dirname(here), '.').replaceAll(parent, '…')
  const skip = (who, why) =>
    skipped.some((known) => known.who === who) || skipped.push({ who, why: hide(why) })
  const ctx = { ...plan, progress, library, skip, histories: new Histories(progress) }
  const machine = describeMachine(scratchDir('probe'))
  const results = {}
  for (const measure of chosen) {
    progress.section(measure.name)
    try {
      results[measure.name] = await measure.run(ctx)
    } catch (error) {
      // One measurement that fails must not cost us the others.
      skip(measure.title, `failed: ${error.message}`)
      progress.note(`failed: ${error.stack}`)
      process.exitCode = 1
    }
  }
  machine.loadAfter = loadavg()[0]
  const isWhole = only.length === 0 && options.history === undefined
  const out =
    options.out ??
    join(here, 'results', options.profile ? 'partial' : options.quick ? 'quick' : isWhole ? '' : 'partial')
  const seconds = (performance.now() - started) / 1_000
  const run = {
    date: new Date().toISOString(),
    commit: describeVersion(),
    quick: options.quick,
    seconds,
    machine,
    skipped,
    plan,
    results,
  }
  const aims = writeReport(out, run, measures)
  progress.end(`${join(out, 'report.md')}: ${seconds.toFixed(0)} s`)
  for (const aim of aims)
    console.log(
      `${judge(aim).padEnd(12)}  ${aim.aim}: ${Number.isFinite(aim.measured) ? Number(aim.measured.toPrecision(3)) : '–'}`,
    )
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof UsageError ? `${error.message}\n\n${usage}` : error.stack}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
} finally {
  await cleanUp()
}
