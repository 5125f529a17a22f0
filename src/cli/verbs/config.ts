import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { parseStrictJson } from '../../base/json.ts'
import { isSettingKey, settings } from '../../model/settings.ts'
import { ensureSpaceDir, readSettings, writeSetting } from '../../space/settings.ts'
import { action, type Cli } from '../cli.ts'
import { table } from '../format/table.ts'
import { examples } from '../help.ts'
import { spaceDir } from '../open.ts'

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
      ),
    )
  action(
    command.command('get').summary('print a setting').argument('<key>', 'name of the setting'),
    (cli, key: string) => {
      const value = readSettings(spaceDir(cli))[knownKey(key)]
      cli.answer({ [key]: value }, () => written(value))
    },
  )
  action(
    command
      .command('set')
      .summary('change a setting')
      .argument('<key>', 'name of the setting')
      .argument('<value>', 'a number, a word or JSON'),
    (cli, key: string, value: string) => {
      const dir = spaceDir(cli)
      ensureSpaceDir(dir)
      const now = writeSetting(dir, key, parseValue(value))[knownKey(key)]
      cli.confirm({ [key]: now }, () => `${key} is now ${written(now)}`)
    },
  )
  action(command.command('list').summary('list all settings with their values and meanings'), list)
}

function list(cli: Cli): void {
  const values = readSettings(spaceDir(cli))
  const known = Object.entries(settings)
  const rows = known.map(([key, { default: usual }]) => [key, written(values[knownKey(key)]), written(usual)])
  const columns = [
    { head: 'SETTING' },
    { head: 'VALUE', flexible: true },
    { head: 'DEFAULT', flexible: true },
  ]
  cli.answer({ settings: values }, () => {
    const [head, ...lines] = table(columns, rows, cli.width, cli.colors)
    return [head, ...lines.flatMap((line, at) => [line, cli.colors.dim(`  ${known[at]![1].about}`)])].join(
      '\n',
    )
  })
}

function knownKey(key: string): keyof typeof settings {
  if (isSettingKey(key)) return key
  throw new MailboxError('invalid', `unknown setting ${JSON.stringify(key)}`, {
    hint: `settings: ${Object.keys(settings).join(', ')}`,
  })
}

const written = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Parses numbers, booleans and `[...]` as JSON; everything else is a string. */
const parseValue = (text: string): unknown =>
  /^(-?\d+(\.\d+)?|true|false|\[.*\])$/s.test(text) ? parseStrictJson(text) : text
