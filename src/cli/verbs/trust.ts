import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import { checkSpaceDir } from '../../space/settings.ts'
import { distrustSpace, nearestSpace, trustedSpaces, trustSpace } from '../../space/trust.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../help.ts'
import { personAction, spaceExists } from '../open.ts'

export function trust(command: Command): void {
  command
    .description(
      'Agree to use a space that came with a project. Until then it is passed over, because whoever wrote its mail gives\n' +
        'work to your agents. A space that you create, or name with --space, needs no agreement. Without a directory, agree\n' +
        'to the nearest .mailbox in a parent directory.',
    )
    .argument('[dir]', 'the directory of the space')
    .option('--list', 'list the spaces you have agreed to')
    .option('--revoke', 'take the agreement back')
    .addHelpText(
      'after',
      examples(
        'mailbox trust',
        'mailbox trust ~/projects/site/.mailbox',
        'mailbox trust --list',
        'mailbox trust --revoke ~/projects/site/.mailbox',
      ),
    )
  personAction(
    command,
    'agree to a space',
    (cli, given: string | undefined, flags: { list?: boolean; revoke?: boolean }) => {
      if (flags.list) return list(cli)
      const dir = given ?? nearest(flags.revoke ?? false)
      const shown = toPrintableLine(dir)
      if (flags.revoke) {
        if (!distrustSpace(dir, process.env))
          throw new MailboxError('not_found', `you have not agreed to ${shown}`, {
            hint: 'see `mailbox trust --list`',
          })
        return cli.confirm(
          { space: dir, trusted: false },
          () => `${shown} is no longer used unless you name it`,
        )
      }
      if (!spaceExists(dir))
        throw new MailboxError('not_found', `there is no space in ${shown}`, {
          hint: `create it: mailbox --space ${shown} join NAME`,
        })
      const refusal = checkSpaceDir(dir)
      if (refusal !== undefined) throw refusal
      const isNew = trustSpace(dir, process.env)
      cli.confirm({ space: dir, trusted: true }, () =>
        isNew
          ? `agreed to ${shown}; it is used in its directory from now on`
          : `you had agreed to ${shown} before`,
      )
    },
  )
}

function list(cli: Cli): void {
  const spaces = trustedSpaces(process.env)
  cli.answer({ spaces }, () =>
    spaces.length === 0
      ? 'you have agreed to no space besides your own'
      : spaces.map(toPrintableLine).join('\n'),
  )
}

/** The nearest space above the working directory: one that was passed over, or to revoke it the one in use. */
function nearest(revokes: boolean): string {
  const { dir, passedOver } = nearestSpace(process.cwd(), process.env)
  const found = revokes ? dir : passedOver[0]
  if (found !== undefined) return found
  throw new MailboxError('not_found', 'no space was passed over here', {
    hint: 'name one: mailbox trust DIR; see those you have agreed to: mailbox trust --list',
  })
}
