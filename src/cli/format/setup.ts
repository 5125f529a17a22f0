import { homedir } from 'node:os'
import type { ClientSetup } from '../../clients/setup/client-setup.ts'
import type { DiffLine } from '../../clients/setup/diff.ts'
import type { UndoneFile } from '../../clients/setup/uninstall.ts'
import { toPrintable, toPrintableLine } from '../../model/text.ts'
import type { Cli } from '../cli.ts'

/** What happens to one settings file. */
export interface FileChange {
  client: string
  path: string
  change: 'create' | 'edit' | 'none'
  diff: DiffLine[]
}

const signs = { added: '+ ', removed: '- ', context: '  ', place: '@ ' }

/** The changes, for review: a line for each file, and with `diff` every line of it. */
export function changesText(cli: Cli, files: readonly FileChange[], diff: boolean): string {
  const { colors } = cli
  const changed = files.filter(({ change }) => change !== 'none')
  if (!diff) {
    const lines = changed.map((file) => `  ${nameOf(file)}: ${sizeOf(file)}`)
    return [...lines, colors.dim('To see every line: --diff')].join('\n')
  }
  const paint = { added: colors.green, removed: colors.red, context: colors.dim, place: colors.cyan }
  const lineOf = ({ kind, text }: DiffLine) => paint[kind](signs[kind] + toPrintable(text))
  return changed.map((file) => [colors.bold(nameOf(file)), ...file.diff.map(lineOf)].join('\n')).join('\n\n')
}

function sizeOf({ diff }: FileChange): string {
  const lines = (kind: DiffLine['kind']) => diff.filter((line) => line.kind === kind).length
  const [added, removed] = [lines('added'), lines('removed')]
  return [
    ...(added > 0 ? [`${added} lines added`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
  ].join(', ')
}

const nameOf = ({ path, change }: FileChange): string =>
  shortPath(path) + (change === 'create' ? ' (new)' : '')

function shortPath(path: string): string {
  const home = process.env['HOME'] ?? homedir()
  return toPrintableLine(path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path)
}

export interface InitReport {
  clients: readonly ClientSetup[]
  files: readonly FileChange[]
  applied: boolean
  /** Where the backups are. */
  keptIn: string
  /** The command line that was given, to repeat it. */
  again: string
  /** Whether to show every line that changes. */
  diff: boolean
}

export function initText(cli: Cli, { clients, files, applied, keptIn, again, diff }: InitReport): string {
  const labels = clients.map(({ label }) => label).join(', ')
  const changed = files.filter(({ change }) => change !== 'none')
  if (changed.length === 0) return labels === '' ? 'Nothing to set up.' : `Already set up: ${labels}.`
  if (!applied) {
    const go = `Nothing was changed. To make these changes: ${cli.command(again)}`
    return `${changesText(cli, files, diff)}\n\n${go}`
  }
  return [
    `Set up ${labels}:`,
    ...changed.map((file) => `  ${nameOf(file)}`),
    `Backups are in ${shortPath(keptIn)}; to undo: ${cli.command('uninit')}`,
    'Next:',
    '  restart running clients, so that they read their new settings',
    ...clients.flatMap(({ next }) => (next === undefined ? [] : [`  ${next}`])),
    `  check that the hooks run: ${cli.command('doctor')}`,
  ].join('\n')
}

const undone: Record<UndoneFile['how'], string> = {
  restored: 'restored byte for byte',
  removed: 'removed; it did not exist before',
  edited: 'changed since, so only our entries were removed',
  untouched: 'no entries of ours',
}

export function uninitText(files: readonly UndoneFile[], dryRun: boolean): string {
  if (files.length === 0) return 'Nothing to undo.'
  const lines = files.map(({ path, how }) => `  ${shortPath(path)}: ${undone[how]}`)
  const head = dryRun ? 'Nothing was changed. This would happen:' : 'Undone:'
  const next = dryRun ? [] : ['Next: restart running clients. Mail and spaces are kept.']
  return [head, ...lines, ...next].join('\n')
}
