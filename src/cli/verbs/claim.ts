import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import { action } from '../cli.ts'
import { messageBlock } from '../format/message.ts'
import { span } from '../format/time.ts'
import { examples } from '../help.ts'
import { open, openMailbox } from '../open.ts'
import { finiteDuration, given, whole } from '../options.ts'
import { handledLine } from './handle.ts'

interface ClaimFlags {
  next?: boolean
  role?: string
  ttl?: number
  claim?: number
}

export function claim(command: Command): void {
  command
    .description(
      'Claim a message sent to a role, so that no other agent works on it. A claim expires after 15 minutes by default.',
    )
    .argument('[id]', 'the message')
    .option('--next', 'claim and print the most urgent message, oldest first')
    .option('--role <role>', 'the role to claim from, with --next')
    .option('--ttl <duration>', 'how long the claim lasts: 90s, 15m, 24h', finiteDuration)
    .option(
      '--claim <number>',
      'only renew the claim with this number; fail if there is a newer one',
      whole(1),
    )
    .addHelpText(
      'after',
      examples('mailbox claim ID --as ada', 'mailbox claim --next --role architect --as ada --ttl 1h'),
    )
  action(
    command,
    async (cli, id: string | undefined, { next = false, role, ttl, claim: claimNumber }: ClaimFlags) => {
      const options = given({ ttlMs: ttl, claimNumber })
      if (next === (id !== undefined) || next !== (role !== undefined)) {
        throw new MailboxError('invalid', 'give either a message id or --next with --role', {
          hint: 'mailbox claim ID, or mailbox claim --next --role ROLE',
        })
      }
      await using space = await open(cli)
      const mailbox = await openMailbox(cli, space)
      const claimed =
        id !== undefined ? await mailbox.claim(id, options) : await mailbox.claimNext(role!, options)
      if (claimed === null) {
        cli.answer({ message: null }, () => `no mail for role ${toPrintableLine(role!)}`)
        return
      }
      const { message, state, claim: held } = claimed
      const line = `${handledLine(cli, claimed)}\nyours for the next ${span(Date.parse(held.until) - space.now())}`
      cli.answer({ message, state, claim: held }, () =>
        next ? `${messageBlock(cli, message)}\n${line}` : line,
      )
    },
  )
}
