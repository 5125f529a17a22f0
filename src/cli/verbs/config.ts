import { resolve } from 'node:path'
import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { parseStrictJson } from '../../base/json.ts'
import { nearest } from '../../base/nearest.ts'
import { describeEffect, isRoutes, type Route } from '../../model/routes.ts'
import { isSettingKey, settings } from '../../model/settings.ts'
import { toPrintableLine } from '../../model/text.ts'
import { parseDuration, toDuration } from '../../model/time.ts'
import { tryToRecord } from '../../space/audit.ts'
import { ensureSpaceDir, readSettings, unknownSettings, writeSetting } from '../../space/settings.ts'
import { changeShared } from '../../space/shared.ts'
import { action, type Cli } from '../cli.ts'
import { table } from '../format/table.ts'
import { examples } from '../help.ts'
import { interruptSignal } from '../interrupt.ts'
import { foundPlace, openFiles, personAction, settingsOf, sharedDir, spaceDir, spaceExists } from '../open.ts'
import { count, createProgress } from '../progress.ts'

export function config(command: Command): void {
  command
    .description('Show and change the settings of a space.')
    .helpCommand(false)
    .addHelpText(
      'after',
      examples(
        'mailbox config list',
        'mailbox config get claimTtlMs',
        'mailbox config set rules hub',
        'mailbox config set limits.inbox 100',
        'mailbox config set ackTimeoutMs 30m',
        'mailbox config set journal.mirror /mnt/backup/mail',
      ),
    )
  action(
    command.command('get').summary('print a setting').argument('<key>', 'name of the setting'),
    async (cli, key: string) => {
      const value = (await settingsOf(cli))[knownKey(key)]
      cli.answer({ [key]: value }, () => (isDuration(key) ? summary(key, value) : written(value)))
    },
  )
  personAction(
    command
      .command('set')
      .summary('change a setting')
      .argument('<key>', 'name of the setting')
      .argument('<value>', 'a number, a duration such as 15m, a word or JSON'),
    'change settings',
    async (cli, key: string, value: string) => {
      knownKey(key)
      if (key === 'journal.mirror') return setMirror(cli, value)
      const dir = spaceDir(cli)
      ensureSpaceDir(dir)
      const change = () => writeSetting(dir, key, parseValue(key, value))
      const now = (await changeShared(dir, 'config.json', change))[knownKey(key)]
      await recordSetting(cli, key)
      cli.confirm({ [key]: now }, () => `${key} is now ${summary(key, now)}`)
      cli.tip(whenUsed)
    },
  )
  action(command.command('list').summary('list all settings with their values and meanings'), list)
}

/** Says in the journal that a setting was changed, and to what unless that is a secret. */
export async function recordSetting(cli: Cli, key: string): Promise<void> {
  const dir = spaceDir(cli)
  if (!spaceExists(dir)) return
  await using space = await openFiles(cli)
  const { exported } = settings[knownKey(key)]
  const note = exported ? { note: summary(key, readSettings(dir)[knownKey(key)]).slice(0, 200) } : {}
  await tryToRecord(space.core, { event: 'setting_changed', by: cli.actor, about: key, ...note })
  // Processes that are running learn of it by the new key.
  if (key === 'encrypt' && readSettings(dir).encrypt === 'space') await space.core.vault.renew()
}

/** Settings are read when a space is opened. */
export const whenUsed = 'a running hub, and other processes that stay, use it after a restart'

/** A mirror is made and filled before the setting names it. */
async function setMirror(cli: Cli, value: string): Promise<void> {
  const mirror = value === '' ? '' : resolve(value)
  await using space = await openFiles(cli, { creates: true })
  const before = space.settings['journal.mirror']
  const progress = createProgress(cli, 'copying the journal')
  const onProgress = ({ bytes, total }: { bytes: number; total: number }) => progress.report(bytes, total)
  const { bytes } = await space
    .setMirror(mirror, { onProgress, signal: interruptSignal() })
    .finally(progress.end)
  cli.confirm({ 'journal.mirror': mirror, copiedBytes: bytes }, () => {
    if (mirror !== '') return `journal.mirror is now ${mirror}; ${count(Math.ceil(bytes / 1024))} KiB copied`
    return `journal.mirror is off${before === '' ? '' : `; the copy in ${before} stays as it is`}`
  })
  if (mirror !== before) cli.tip(whenUsed)
}

async function list(cli: Cli): Promise<void> {
  const values = await settingsOf(cli)
  const unknown = foundPlace(cli).kind === 'hub' ? [] : unknownSettings(await sharedDir(cli))
  const known = Object.entries(settings)
  const rows = known.map(([key, { default: usual }]) => [
    ...[key, summary(key, values[knownKey(key)]), summary(key, usual)],
  ])
  const columns = [
    { head: 'SETTING' },
    { head: 'VALUE', flexible: true },
    { head: 'DEFAULT', flexible: true },
  ]
  const dim = (line: string) => cli.colors.dim(`  ${line}`)
  const linesOf = (key: string) => (key === 'routes' ? values.routes.map(routeLine) : [])
  cli.answer({ settings: values, ...(unknown.length > 0 && { unknown }) }, () => {
    const [head, ...lines] = table(columns, rows, cli.width, cli.colors)
    const below = ([key, { about }]: (typeof known)[number]) => [dim(about), ...linesOf(key)]
    return [head, ...lines.flatMap((line, at) => [line, ...below(known[at]!)])].join('\n')
  })
  if (unknown.length > 0) cli.warn(notKnown(unknown))
}

/** A setting of a newer program has no effect here, and is kept for it. */
const notKnown = (unknown: readonly string[]): string =>
  `this version does not know ${unknown.join(', ')}: kept in config.json, without effect`

function knownKey(key: string): keyof typeof settings {
  if (isSettingKey(key)) return key
  const close = nearest(key, Object.keys(settings))
  throw new MailboxError('invalid', `unknown setting ${JSON.stringify(key)}`, {
    hint:
      close.length > 0 ? `did you mean ${close.join(' or ')}?` : 'to list the settings: mailbox config list',
  })
}

const written = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Durations have their unit, and the routing rules are listed below. */
function summary(key: string, value: unknown): string {
  if (isRoutes(value) && value.length > 0) return `${value.length} ${value.length === 1 ? 'rule' : 'rules'}`
  if (typeof value !== 'number' || !isDuration(key)) return written(value)
  return toDuration(value * unitOf(key))
}

const dayMs = 86_400_000
/** What a duration is kept in, by the name of its setting. */
const unitOf = (key: string): number => (key.endsWith('Days') ? dayMs : 1)
const isDuration = (key: string): boolean => /(?:Ms|Days)$/.test(key)

const routeLine = (route: Route, at: number): string =>
  `    ${at + 1}. ${toPrintableLine(`${route.when}: ${describeEffect(route)}`)}`

/** Parses durations, numbers, booleans and `[...]`; everything else is a string. */
function parseValue(key: string, text: string): unknown {
  if (isDuration(key) && /^\d+(?:ms|[smhdw])$/.test(text)) return parseDuration(text) / unitOf(key)
  return /^(-?\d+(\.\d+)?|true|false|\[.*\])$/s.test(text) ? parseStrictJson(text) : text
}
