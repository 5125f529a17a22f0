// The last lines of a test run: what was skipped and why, what failed beside other tests only, and the figures.

/**
 * What became of the tests of one file, in one project of vitest.config.ts.
 * @typedef {object} FileResult
 * @property {string} project
 * @property {string} file
 * @property {number} passed
 * @property {string[]} failed names of tests; the file itself if it cannot be loaded
 * @property {[reason: string, name: string][]} skipped
 */

const namesShown = 3

const listed = (heading, names) => [
  heading,
  ...names.slice(0, namesShown).map((name) => `  ${name}`),
  ...(names.length > namesShown ? [`  and ${names.length - namesShown} more`] : []),
]

/**
 * @param {readonly FileResult[]} files
 * @param {{ errors?: number, unsteady?: readonly string[] }} [more] errors outside any test, and tests that failed
 *   beside others and passed alone
 */
export function tally(files, { errors = 0, unsteady = [] } = {}) {
  const skipped = new Map()
  for (const { file, skipped: some } of files)
    for (const [reason, name] of some)
      skipped.set(reason, [...(skipped.get(reason) ?? []), `${file}: ${name}`])
  const passed = files.reduce((sum, file) => sum + file.passed, 0)
  const failed = files.reduce((sum, file) => sum + file.failed.length, errors)
  const count = [...skipped.values()].reduce((sum, names) => sum + names.length, 0)
  const lines = [...skipped].flatMap(([reason, names]) => listed(`${names.length} skipped: ${reason}`, names))
  if (unsteady.length > 0)
    lines.push(...listed(`${unsteady.length} failed beside other tests, and passed alone:`, unsteady))
  lines.push(`${passed} passed, ${failed} failed${count > 0 ? `, ${count} skipped` : ''}`)
  return `\n${lines.join('\n')}\n`
}
