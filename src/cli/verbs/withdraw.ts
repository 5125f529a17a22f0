import type { Command } from 'commander'
import { examples } from '../help.ts'
import { mailboxAction } from '../open.ts'

export function withdraw(command: Command): void {
  command
    .description('Withdraw a message that you sent. This works only until someone reads it.')
    .argument('<id>', 'the message')
    .addHelpText('after', examples('mailbox withdraw ID --as ada'))
  mailboxAction(command, async (cli, mailbox, id: string) => {
    const message = await mailbox.withdraw(id)
    cli.confirm({ message }, () => `withdrawn: ${message.id}`)
  })
}
