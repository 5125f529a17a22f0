import type { Command } from 'commander'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { open, openMailbox } from '../open.ts'

export function withdraw(command: Command): void {
  command
    .description('Take back a message of yours. It works only while nobody has seen it.')
    .argument('<id>', 'the message')
    .addHelpText('after', examples('mailbox withdraw ID --as ada'))
  action(command, async (cli, id: string) => {
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const message = await mailbox.withdraw(id)
    cli.confirm({ message }, () => `withdrawn: ${message.id}`)
  })
}
