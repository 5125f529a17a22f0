// For `npm run mutate`: what tests import from vitest, so far as the tests of the mutated rooms use it. Tests are kept in
// a list that mutate-runner.mjs runs as often as it likes. `expect` is vitest's own.
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  customMatchers,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
} from '@vitest/expect'

chai.use(JestExtend)
chai.use(JestChaiExpect)
chai.use(JestAsymmetricMatchers)
export const expect = Object.assign((...given) => chai.expect(...given), chai.expect)
chai.expect.extend(expect, customMatchers)
Object.assign(expect, globalThis[ASYMMETRIC_MATCHERS_OBJECT], {
  unreachable: (message = '') => chai.assert.fail(`expected ${message} not to be reached`),
})

const scopes = []
let fileName = ''
/** What the running test wants done when it is over. */
let endings = []
const seen = new Map()

export function beginFile(name) {
  fileName = name
}

export const onTestFinished = (ending) => void endings.push(ending)

function add(name, body) {
  const title = [...scopes, name].join(' > ')
  // Tests may have the same name; each has its own id.
  const times = seen.get(`${fileName} ${title}`) ?? 0
  seen.set(`${fileName} ${title}`, times + 1)
  const id = `${fileName}#${title}${times === 0 ? '' : ` (${times + 1})`}`
  globalThis.mutateTests.push({ id, name: title, fileName, run: () => runTest(body) })
}

/** Gives what it failed with, if it did. */
async function runTest(body) {
  endings = []
  let failure
  try {
    await body({})
  } catch (error) {
    failure = error ?? new Error('failed without an error')
  }
  for (const ending of endings.reverse()) {
    try {
      await ending()
    } catch (error) {
      failure ??= error
    }
  }
  return failure
}

const bodyOf = (first, second) => (typeof first === 'function' ? first : second)

function withEach(define) {
  const one = (name, first, second) => define(name, bodyOf(first, second))
  one.each = (rows) => (name, first, second) => {
    // As in vitest: a row is a list of arguments if all of them are.
    const isSpread = rows.every((row) => Array.isArray(row))
    for (const [at, row] of rows.entries())
      define(`${name} #${at}`, () => bodyOf(first, second)(...(isSpread ? row : [row])))
  }
  one.skipIf = (isSkipped) => (isSkipped ? Object.assign(() => {}, { each: () => () => {} }) : one)
  one.runIf = (isRun) => one.skipIf(!isRun)
  one.skip = one.skipIf(true)
  return one
}

export const test = withEach(add)
export const it = withEach(add)
export const describe = withEach((name, body) => {
  scopes.push(name)
  body()
  scopes.pop()
})
