import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { wordsOf } from '../../conversation/words.ts'
import { addMessageOptions, compose, type MessageFlags } from '../compose.ts'
import { examples } from '../help.ts'
import { mailboxAction } from '../open.ts'
import { answerSent } from './send.ts'

/** What another said, as a quotation in Markdown. */
const quoted = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')

export function forward(command: Command): void {
  addMessageOptions(
    command
      .description(
        'Forward a message to others, with its text quoted and its attachments. It starts a thread of its own.',
      )
      .argument('<id>', 'the message to forward')
      .argument('<to...>', 'agents, role:NAME, a tag or all'),
    'text',
    { without: ['replyTo'] },
  ).addHelpText(
    'after',
    examples('mailbox forward 12 cleo --body "Is this yours?"', 'mailbox forward @last role:architect'),
  )
  mailboxAction(command, async (cli, mailbox, id: string, to: string[], flags: MessageFlags) => {
    const { body = '', ...composed } = await compose(flags, false)
    const { message } = await mailbox.show(id)
    if (message.unreadable !== undefined)
      throw new MailboxError('damaged', `message ${message.id} cannot be read`, {
        hint: 'see `mailbox verify`',
      })
    const words = wordsOf(message)
    const head = `Forwarded from ${message.from} (message ${message.id}, ${message.createdAt}):`
    const attachments = [...new Set([...(composed.attachments ?? []), ...message.attachments])]
    const sent = await mailbox.send({
      ...{ subject: `Fwd: ${words.subject || '(no subject)'}`.slice(0, 500), ...composed, to },
      body: [...(body === '' ? [] : [body, '']), head, '', quoted(words.body)].join('\n'),
      ...(attachments.length > 0 && { attachments }),
    })
    answerSent(cli, sent)
  })
}
