// For `npm run mutate`: runs the tests of a room for Stryker. Stryker's own runner for vitest starts vitest again for
// each mutant, and nearly all of its time goes into that. Here the tests are bundled and loaded once, and for a mutant
// only those run that reach it. A mutant in what runs while modules load has them loaded again.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { INSTRUMENTER_CONSTANTS } from '@stryker-mutator/api/core'
import { commonTokens, declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin'
import { determineHitLimitReached, toMutantRunResult } from '@stryker-mutator/api/test-runner'
import { rolldown } from 'rolldown'

const vitest = join(import.meta.dirname, 'mutate-vitest.mjs')

/** In the sandbox. */
const usualFile = 'usual.json'

/** In the sandbox as well: the mutant that was met in another process last. */
const triedFile = 'tried'

/** How long a test may take: what it usually takes many times over, because the machine may be busy. */
const limitMs = (usualMs) => 3_000 + 5 * usualMs

/** A test that takes longer is left out, unless its part says otherwise: mutants in the journal meet many tests each. */
const usualSlowMs = 1_500

class OneProcessRunner {
  static inject = [commonTokens.options]
  #files
  /** How many tests a mutant meets at most, and whether that is a limit. */
  #mostTests
  #isLimited
  #slowMs
  #bundle
  /** What Stryker's code in the sources looks at. */
  #state
  /** The tests as they are without a mutant. */
  #tests = []
  /** What each of them usually takes; those that are not here are not run. Kept for the process after this one. */
  #usualMs = new Map()
  #loads = 0
  /** Errors that no test waited for. */
  #stray = []
  /** A test did not come to its end, so nobody knows what it left behind. */
  #isSpent = false

  constructor(options) {
    const { tests, mostTests = Number.POSITIVE_INFINITY, slowMs = usualSlowMs } = options.oneProcess
    this.#files = tests
    this.#mostTests = mostTests
    this.#isLimited = mostTests < Number.POSITIVE_INFINITY
    this.#slowMs = slowMs
    this.#state = globalThis[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {}
    process.on('unhandledRejection', (error) => this.#stray.push(error))
    process.on('uncaughtException', (error) => this.#stray.push(error))
  }

  capabilities() {
    return { reloadEnvironment: true }
  }

  async init() {
    this.#bundle = join(process.cwd(), 'bundle.mjs')
    // The process before this one has made it.
    if (existsSync(this.#bundle)) return
    await bundleTests(this.#files, `${this.#bundle}.new`)
    renameSync(`${this.#bundle}.new`, this.#bundle)
  }

  async dryRun() {
    this.#state.activeMutant = undefined
    this.#state.mutantCoverage = { static: {}, perTest: {} }
    this.#tests = await this.#load()
    const tests = []
    for (const test of this.#tests) {
      this.#state.currentTestId = test.id
      const result = await this.#run(test, Number.POSITIVE_INFINITY)
      this.#state.currentTestId = undefined
      tests.push(result.status === 0 && result.timeSpentMs > this.#slowMs ? { ...result, status: 2 } : result)
    }
    this.#usualMs = new Map(
      tests.filter(({ status }) => status === 0).map((one) => [one.id, one.timeSpentMs]),
    )
    writeFileSync(usualFile, JSON.stringify([...this.#usualMs]))
    return { status: 'complete', tests, mutantCoverage: this.#state.mutantCoverage }
  }

  async mutantRun(options) {
    // Stryker starts another process then.
    if (this.#isSpent) throw new Error('a test has not ended')
    if (this.#tests.length === 0) await this.#resume()
    const isStatic = options.reloadEnvironment
    const result = await this.#mutantRun(options, isStatic)
    if (isStatic || this.#isLimited || result.status !== 'survived') return result
    // What modules keep from earlier tests can hide a mutant: it survives only if it survives in fresh ones.
    return await this.#mutantRun(options, true)
  }

  /** In a process that follows one that hung or ended. */
  async #resume() {
    this.#state.activeMutant = undefined
    this.#usualMs = new Map(JSON.parse(readFileSync(usualFile, 'utf8')))
    this.#tests = await this.#load()
  }

  async #mutantRun({ activeMutant, testFilter, mutantActivation, hitLimit }, isFresh) {
    const isChosen = ({ id }) => this.#usualMs.has(id) && (testFilter?.includes(id) ?? true)
    let tests = this.#tests
    Object.assign(this.#state, { mutantCoverage: undefined, hitCount: 0, hitLimit })
    this.#state.activeMutant = mutantActivation === 'static' ? activeMutant.id : undefined
    if (isFresh) {
      try {
        tests = await this.#load()
      } catch (error) {
        // What cannot be loaded fails every test.
        return failed(this.#tests.find(isChosen), error)
      }
    }
    this.#state.activeMutant = activeMutant.id
    const results = []
    const usualMs = ({ id }) => this.#usualMs.get(id)
    // The quickest first: most mutants need no more.
    const chosen = tests.filter(isChosen).sort((a, b) => usualMs(a) - usualMs(b))
    for (const test of chosen.slice(0, this.#mostTests)) {
      const result = await this.#run(test, limitMs(usualMs(test)))
      if (result.status === 'timeout') return result
      if (result.status === 0 || !(await this.#failsAnyway(test, isFresh, activeMutant.id)))
        results.push(result)
      if (results.at(-1)?.status === 1) break
      this.#state.activeMutant = activeMutant.id
    }
    this.#state.activeMutant = undefined
    const { hitCount } = this.#state
    return toMutantRunResult(
      determineHitLimitReached(hitCount, hitLimit) ?? { status: 'complete', tests: results },
    )
  }

  /** Whether a test fails without the mutant too: because of something that is left of an earlier run. */
  async #failsAnyway({ id }, isFresh, mutant) {
    this.#state.activeMutant = undefined
    const tests = isFresh ? await this.#load() : this.#tests
    const { status } = await this.#run(
      tests.find((one) => one.id === id),
      Number.POSITIVE_INFINITY,
    )
    if (status === 0) return false
    // Connections that a mutant has not closed, for one, end with the process. It is tried again in another one.
    if (!existsSync(triedFile) || readFileSync(triedFile, 'utf8') !== mutant) {
      writeFileSync(triedFile, mutant)
      this.#isSpent = true
      throw new Error('a test fails without a mutant')
    }
    console.warn(`mutate: left out, because it fails when it is run again: ${id}`)
    this.#usualMs.delete(id)
    return true
  }

  async #load() {
    globalThis.mutateTests = []
    await import(`${pathToFileURL(this.#bundle)}?${this.#loads++}`)
    return globalThis.mutateTests
  }

  async #run({ id, name, fileName, run }, limit) {
    const began = performance.now()
    this.#stray.length = 0
    const error = await within(limit, run())
    this.#isSpent = error === timedOut
    if (this.#isSpent) return { status: 'timeout', reason: `${id} took longer than ${limit} ms` }
    const failure = error ?? this.#stray[0]
    const result = { id, name, fileName, timeSpentMs: performance.now() - began }
    if (failure === undefined) return { ...result, status: 0 }
    const failureMessage = typeof failure === 'symbol' ? '' : String(failure?.stack ?? failure)
    if (failure === Symbol.for('skipped') || noBuild.test(failureMessage)) return { ...result, status: 2 }
    return { ...result, status: 1, failureMessage }
  }
}

const failed = ({ id }, error) => ({
  status: 'killed',
  killedBy: [id],
  failureMessage: String(error?.stack ?? error),
  nrOfTests: 1,
})

const timedOut = Symbol('timed out')

/** What a test failed with, if it did. */
async function within(limit, running) {
  if (limit === Number.POSITIVE_INFINITY) return await running
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limit, timedOut)
  })
  return await Promise.race([running, late]).finally(() => clearTimeout(timer))
}

/** Tests that start what is in dist/ are not run here: no mutant is in it. Some do it by these helpers. */
const noBuild = /Cannot find module '[^']*\/dist\//
const helpersOfProcesses = /\/test\/helpers\/(?:processes|cli|mcp|hub|skip)\.ts$/
const skipping = (source) =>
  [...source.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)]
    .map(([, name]) => `export function ${name}() { throw Symbol.for('skipped') }`)
    .join('\n')

const entry = '\0tests'

/** One module of the tests and the sources that they import; packages stay outside. */
const bundleTests = (files, to) => bundle(entry, to, files)

/** One module with what a file exports. `files`: the tests that an entry of many imports. */
export async function bundle(input, to, files = []) {
  const plugin = {
    name: 'tests',
    resolveId: (id) => (id === entry || id === 'vitest' ? { id: id === entry ? entry : vitest } : null),
    load(id) {
      if (id === entry)
        return files.map((file) => `import ${JSON.stringify(join(process.cwd(), file))}`).join('\n')
      return helpersOfProcesses.test(id) ? skipping(readFileSync(id, 'utf8')) : null
    },
    transform(code, id) {
      if (!/\.m?[jt]s$/.test(id)) return null
      const url = `const mutateUrl = ${JSON.stringify(String(pathToFileURL(id)))};`
      const own = code.includes('import.meta.url')
        ? url + code.replaceAll('import.meta.url', 'mutateUrl')
        : code
      const file = files.find((one) => join(process.cwd(), one) === id)
      if (file === undefined) return own
      return `import { beginFile as mutateFile } from 'vitest';mutateFile(${JSON.stringify(file)});${own}`
    },
  }
  const build = await rolldown({
    input,
    platform: 'node',
    external: (id) => /^[^./\0]/.test(id) && id !== 'vitest' && !id.startsWith('@oxc-project/'),
    plugins: [plugin],
    transform: { target: 'node20', define: { __VERSION__: '"0"' } },
    treeshake: false,
    logLevel: 'warn',
  })
  await build.write({ file: to, format: 'esm', sourcemap: false, codeSplitting: false })
  await build.close()
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'one-process', OneProcessRunner)]
