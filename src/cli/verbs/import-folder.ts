import { describeProblem } from '../../bridges/problem.ts'
import { tryToRecord } from '../../space/audit.ts'
import type { Cli } from '../cli.ts'
import { openFiles } from '../open.ts'
import { count, createProgress } from '../progress.ts'
import { importSummary } from './transfer.ts'

/** Imports the history of another system from its folder. */
export async function importFrom(cli: Cli, formatName: string, path: string): Promise<void> {
  const { formatNamed } = await import('../../bridges/registry.ts')
  const { resolveFolder } = await import('../../bridges/remembered.ts')
  const { importFolder } = await import('../../bridges/import.ts')
  const format = formatNamed(formatName)
  const folder = resolveFolder(path)
  await using space = await openFiles(cli, { creates: true })
  const progress = createProgress(cli, 'importing')
  const done = await importFolder(space, format, folder, progress.report).finally(progress.end)
  if (!cli.json) for (const problem of done.problems) cli.warn(describeProblem(problem))
  if (done.imported > 0) {
    const note = `${count(done.imported)} messages from ${format.name}`
    await tryToRecord(space.core, { event: 'imported', by: cli.actor, note })
  }
  cli.confirm(done, () => importSummary(cli, done))
  if (done.problems.length > 0) process.exitCode = 1
}
