import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import { action } from '../cli.ts'
import { table } from '../format/table.ts'
import { relative } from '../format/time.ts'
import { examples } from '../help.ts'
import { existingSpaceDir } from '../open.ts'

export function token(command: Command): void {
  command
    .description(
      'Create a token with which an agent connects to the hub from another machine. It is valid for that agent only.\n' +
        'It is printed once; only its digest is stored. A new token replaces the old one. Without a name, list the tokens.',
    )
    .argument('[name]', 'the agent')
    .option('--revoke', 'revoke the token and close its connections')
    .addHelpText('after', examples('mailbox token ada', 'mailbox token ada --revoke', 'mailbox token'))
  action(command, async (cli, name: string | undefined, { revoke = false }: { revoke?: boolean }) => {
    const { createAgentToken, listAgentTokens, revokeAgentToken } = await import('../../hub/tokens.ts')
    const dir = existingSpaceDir(cli)
    if (name === undefined) {
      if (revoke)
        throw new MailboxError('invalid', 'missing agent name', { hint: 'mailbox token NAME --revoke' })
      const tokens = listAgentTokens(dir)
      cli.answer({ tokens }, () => {
        if (tokens.length === 0) return 'no agent has a token'
        const rows = tokens.map((one) => [one.name, relative(one.createdAt, cli.now)])
        return table([{ head: 'AGENT' }, { head: 'CREATED' }], rows, cli.width, cli.colors).join('\n')
      })
      return
    }
    const shown = toPrintableLine(name)
    if (revoke) {
      if (!revokeAgentToken(dir, name))
        throw new MailboxError('not_found', `${shown} has no token`, { hint: 'see `mailbox token`' })
      cli.confirm({ agent: name, revoked: true }, () => `revoked the token of ${shown}`)
      return
    }
    const created = createAgentToken(dir, name)
    cli.answer({ agent: name, token: created }, () => created)
    cli.tip('Save it now; it is not shown again. To use it: openSpace({ url, token })')
  })
}
