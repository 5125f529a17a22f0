import { homedir } from 'node:os'
import type { ClientSetup } from '../../clients/setup/client-setup.ts'
import type { DiffLine } from '../../clients/setup/diff.ts'
import type { UndoneFile } from '../../clients/setup/uninstall.ts'
import { toPrintable, toPrintableLine } from '../../model/text.ts'
import type { Cli } from '../cli.ts'

/** What becomes of one settings file. */
export interface FileChange {
  client: string
  path: string
  change: 'create' | 'edit' | 'none'
  diff: DiffLine[]
}

const signs = { added: '+ ', removed: '- ', context: '  ', place: '@ ' }

/** The changes, to be looked at before they are made. */
export function changesText({ colors }: Cli, files: readonly FileChange[]): string {
  const paint = { added: colors.green, removed: colors.red, context: colors.dim, place: colors.cyan }
  const lineOf = ({ kind, text }: DiffLine) => paint[kind](signs[kind] + toPrintable(text))
  const parts = files
    .filter(({ change }) => change !== 'none')
    .map((file) => [colors.bold(nameOf(file)), ...file.diff.map(lineOf)].join('\n'))
  return parts.join('\n\n')
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
  /** Where the files are kept as they were. */
  keptIn: string
  /** The words that were given, to give them again. */
  again: string
}

export function initText(cli: Cli, { clients, files, applied, keptIn, again }: InitReport): string {
  const labels = clients.map(({ label }) => label).join(', ')
  const changed = files.filter(({ change }) => change !== 'none')
  if (changed.length === 0)
    return labels === '' ? 'Nothing to set up.' : `Everything is set up already: ${labels}.`
  if (!applied) {
    const go = `Nothing was changed. To make these changes: ${cli.command(again)}`
    return `${changesText(cli, files)}\n\n${go}`
  }
  return [
    `Set up ${labels}:`,
    ...changed.map((file) => `  ${nameOf(file)}`),
    `The files as they were are kept in ${shortPath(keptIn)}; ${cli.command('uninit')} puts them back.`,
    'Next:',
    '  start the clients anew: a running one has read its settings already',
    ...clients.flatMap(({ next }) => (next === undefined ? [] : [`  ${next}`])),
    `  ${cli.command('doctor')} tells whether the hooks run`,
  ].join('\n')
}

const undone: Record<UndoneFile['how'], string> = {
  restored: 'as it was, byte for byte',
  removed: 'removed; there was none before',
  edited: 'changed since, so only our entries were taken out',
  untouched: 'nothing of ours in it',
}

export function uninitText(files: readonly UndoneFile[], dryRun: boolean): string {
  if (files.length === 0) return 'There is nothing to undo.'
  const lines = files.map(({ path, how }) => `  ${shortPath(path)}: ${undone[how]}`)
  const head = dryRun ? 'Nothing was changed. It would become:' : 'Undone:'
  const next = dryRun ? [] : ['Next: start running clients anew. Mail and spaces stay where they are.']
  return [head, ...lines, ...next].join('\n')
}
