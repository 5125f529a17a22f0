import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { action } from '../cli.ts'
import { deadLetterList } from '../format/dead.ts'
import { examples } from '../help.ts'
import { open, openMailbox } from '../open.ts'
import { collect, given } from '../options.ts'
import { addPaging, hintNext, type PageFlags } from '../paging.ts'
import { answerSent } from './send.ts'

type DeadFlags = PageFlags & { from?: string; resend?: string; to?: string[] }

export function dead(command: Command): void {
  addPaging(
    command
      .description(
        'List dead letters: mail whose recipient is gone, that expired unread, or that failed too often; and mail that waits for an agent that died. Nothing is deleted.',
      )
      .option('--from <agent>', 'only from this sender')
      .option('--resend <id>', 'resend this message to the address given by --to')
      .option('--to <address>', 'the new recipient; repeatable', collect),
  ).addHelpText(
    'after',
    examples(
      'mailbox dead',
      'mailbox dead --from ada --json',
      'mailbox dead --as ada --resend ID --to role:reviewer',
    ),
  )
  action(command, async (cli, { resend, to, ...list }: DeadFlags) => {
    if ((resend === undefined) !== (to === undefined)) {
      throw new MailboxError('invalid', '--resend and --to must be used together', {
        hint: 'mailbox dead --resend ID --to ADDRESS',
      })
    }
    await using space = await open(cli)
    if (resend !== undefined) {
      answerSent(cli, await (await openMailbox(cli, space)).resend(resend, to!))
      return
    }
    const { letters, waiting, next } = await space.deadLetters(given(list))
    const flat = (found: typeof letters) => found.map(({ message, ...rest }) => ({ ...message, ...rest }))
    cli.answer({ messages: flat(letters), waiting: flat(waiting), next }, () =>
      [
        letters.length === 0 ? 'no dead letters' : deadLetterList(cli, letters),
        ...(waiting.length === 0
          ? []
          : ['', 'Waiting for agents that are gone:', deadLetterList(cli, waiting)]),
      ].join('\n'),
    )
    hintNext(cli, 'dead', next)
    if (letters.length > 0)
      cli.tip(`to send one to someone else: ${cli.command('dead --resend ID --to ADDRESS')}`)
  })
}
