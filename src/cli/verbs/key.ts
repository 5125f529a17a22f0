import type { Command } from 'commander'
import { toPrintableLine } from '../../model/text.ts'
import { action } from '../cli.ts'
import { table } from '../format/table.ts'
import { examples } from '../help.ts'
import { readText } from '../input.ts'
import { openFiles, personAction } from '../open.ts'

const changeKeys = 'change keys'

export function key(command: Command): void {
  command
    .description(
      'Show and change the keys that mail is signed and encrypted with. Each agent has one; it is made without asking, and\n' +
        'kept in your configuration, outside the space. Whoever has the key of an agent can write in its name and read its\n' +
        'encrypted mail.',
    )
    .helpCommand(false)
    .addHelpText(
      'after',
      examples(
        'mailbox key list',
        'mailbox key rotate ada',
        'mailbox key revoke ada',
        'mailbox key export user > user.key',
        'mailbox key restore user user.key',
        'mailbox key share carol',
      ),
    )
  action(command.command('list').summary('list the senders that have signed mail'), async (cli) => {
    await using space = await openFiles(cli)
    const { listKeys } = await import('../../space/keys.ts')
    const keys = await listKeys(space.core)
    cli.answer({ keys }, () => {
      if (keys.length === 0) return 'nobody has signed anything yet'
      const rows = keys.map((one) => [
        one.agent,
        one.key?.slice(0, 16) ?? 'revoked',
        `entry ${one.since}`,
        one.here ? 'yes' : 'no',
      ])
      const columns = [
        { head: 'AGENT', flexible: true },
        { head: 'KEY' },
        { head: 'SINCE' },
        { head: 'HERE' },
      ]
      return table(columns, rows, cli.width, cli.colors).join('\n')
    })
  })
  personAction(
    command.command('rotate').summary('replace the key of an agent').argument('<name>', 'the agent'),
    changeKeys,
    async (cli, name: string) => {
      await using space = await openFiles(cli)
      const { rotateKey } = await import('../../space/keys.ts')
      const created = await rotateKey(space.core, name)
      cli.confirm({ agent: name, key: created }, () => `${toPrintableLine(name)} has a new key`)
    },
  )
  personAction(
    command
      .command('revoke')
      .summary('no longer accept the key of an agent, for example because it was stolen')
      .argument('<name>', 'the agent'),
    changeKeys,
    async (cli, name: string) => {
      await using space = await openFiles(cli)
      const { revokeKey } = await import('../../space/keys.ts')
      await revokeKey(space.core, name)
      cli.confirm({ agent: name, revoked: true }, () => `revoked the key of ${toPrintableLine(name)}`)
      cli.tip(`to give it a new one: ${cli.command(`key rotate ${toPrintableLine(name)}`)}`)
    },
  )
  personAction(
    command
      .command('export')
      .summary('print the key of an agent, to keep it somewhere safe')
      .argument('<name>', 'the agent'),
    'export keys',
    async (cli, name: string) => {
      await using space = await openFiles(cli)
      const { exportKey } = await import('../../space/keys.ts')
      const exported = await exportKey(space.core, name, cli.actor)
      cli.answer({ agent: name, ...exported }, () => JSON.stringify(exported))
      cli.tip(
        'Whoever has this can write in that name and read its mail. Print it, or keep it where you keep passwords.',
      )
    },
  )
  personAction(
    command
      .command('restore')
      .summary('put an exported key back')
      .argument('<name>', 'the agent')
      .argument('<file>', 'what export printed; - for standard input'),
    changeKeys,
    async (cli, name: string, file: string) => {
      await using space = await openFiles(cli)
      const { restoreKey } = await import('../../space/keys.ts')
      await restoreKey(space.core, name, await readText(file))
      cli.confirm({ agent: name, restored: true }, () => `restored the key of ${toPrintableLine(name)}`)
    },
  )
  personAction(
    command
      .command('share')
      .summary('let an agent whose key is elsewhere read an encrypted space')
      .argument('<name>', 'the agent'),
    changeKeys,
    async (cli, name: string) => {
      await using space = await openFiles(cli)
      const { shareKey } = await import('../../space/keys.ts')
      await shareKey(space.core, name)
      cli.confirm({ agent: name, shared: true }, () => `${toPrintableLine(name)} can read this space`)
    },
  )
}
