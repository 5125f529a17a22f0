import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import { action } from '../cli.ts'
import { table } from '../format/table.ts'
import { relative } from '../format/time.ts'
import { examples } from '../help.ts'
import { spaceDir, spaceExists } from '../open.ts'

export function token(command: Command): void {
  command
    .description(
      'Make a token with which an agent comes to the hub from another machine. It acts as that agent and no other.\n' +
        'It is printed once and only its digest is kept; a new one replaces it. Without a name: who has one.',
    )
    .argument('[name]', 'the agent')
    .option('--revoke', 'take its token back: whoever uses it is cut off')
    .addHelpText('after', examples('mailbox token ada', 'mailbox token ada --revoke', 'mailbox token'))
  action(command, async (cli, name: string | undefined, { revoke = false }: { revoke?: boolean }) => {
    const { createAgentToken, listAgentTokens, revokeAgentToken } = await import('../../hub/tokens.ts')
    const dir = spaceDir(cli)
    if (!spaceExists(dir)) {
      throw new MailboxError('not_found', `there is no space in ${dir}`, {
        hint: 'name another with --space DIR, or make one: mailbox join NAME',
      })
    }
    if (name === undefined) {
      if (revoke) throw new MailboxError('invalid', 'whose token?', { hint: 'mailbox token NAME --revoke' })
      const tokens = listAgentTokens(dir)
      cli.answer({ tokens }, () => {
        if (tokens.length === 0) return 'no agent has a token'
        const rows = tokens.map((one) => [one.name, relative(one.createdAt, cli.now)])
        return table([{ head: 'AGENT' }, { head: 'MADE' }], rows, cli.width, cli.colors).join('\n')
      })
      return
    }
    const shown = toPrintableLine(name)
    if (revoke) {
      if (!revokeAgentToken(dir, name))
        throw new MailboxError('not_found', `${shown} has no token`, { hint: 'see `mailbox token`' })
      cli.confirm({ agent: name, revoked: true }, () => `the token of ${shown} is good no more`)
      return
    }
    const made = createAgentToken(dir, name)
    cli.answer({ agent: name, token: made }, () => made)
    cli.tip(`in its program: openSpace({ url, token }); it is not shown again`)
  })
}
