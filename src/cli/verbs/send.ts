import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { SentMessage } from '../../space/mailbox/api.ts'
import { action, type Cli } from '../cli.ts'
import { addMessageOptions, compose, type MessageFlags } from '../compose.ts'
import { examples } from '../help.ts'
import { open, openMailbox } from '../open.ts'
import { collect, given } from '../options.ts'

export function send(command: Command): void {
  addMessageOptions(
    command
      .description('Send a message. It has been saved to disk when this returns.')
      .argument(
        '[to...]',
        'agents (ada), role:architect, a tag (project:x) or all; - reads the body from standard input',
      ),
    'text',
  ).addHelpText(
    'after',
    examples(
      'mailbox send ada --subject "Plan" --body "Ready for review."',
      'mailbox send role:architect --priority urgent --await --body "Which port?"',
      'git diff | mailbox send bob --subject "The change" -',
      'mailbox send project:inscription bob --body-file notes.md --ttl 2h',
      `echo '{"to":"ada","body":"hi","payload":{"n":1}}' | mailbox send --input - --json`,
    ),
  )
  action(command, async (cli, words: string[], flags: MessageFlags) => {
    const addresses = words.filter((word) => word !== '-')
    const composed = await compose(flags, words.includes('-'))
    const to = addresses.length > 0 ? addresses : composed.to
    if (to === undefined) {
      throw new MailboxError('invalid', 'the message has no recipient', {
        hint: 'mailbox send ada --body TEXT',
      })
    }
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    answerSent(cli, await mailbox.send({ ...composed, to }))
  })
}

export function reply(command: Command): void {
  addMessageOptions(
    command
      .description('Reply to a message: to its sender, in its thread and, by default, with its priority.')
      .argument('<id>', 'the message to reply to')
      .argument('[-]', 'read the body from standard input'),
    'response',
    { without: ['replyTo'] },
  )
    .option('--to <address>', 'send the reply to this address instead; repeatable', collect)
    .addHelpText(
      'after',
      examples('mailbox reply ID --as ada --body "With the model."', 'mailbox reply ID - < answer.md'),
    )
  type ReplyFlags = MessageFlags & { to?: string[] }
  action(command, async (cli, id: string, dash: string | undefined, { to, ...flags }: ReplyFlags) => {
    const { replyTo: _, ...composed } = await compose(flags, isStdin(dash))
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    answerSent(cli, await mailbox.reply(id, { ...composed, ...given({ to }) }))
  })
}

export function broadcast(command: Command): void {
  addMessageOptions(
    command
      .description(
        'Send to every agent, or to the members of a swarm. Agents that join before the message expires (4 hours) get it too.',
      )
      .argument('[-]', 'read the body from standard input'),
    'broadcast',
    { without: ['generation'] },
  ).addHelpText(
    'after',
    examples(
      'mailbox broadcast --body "The build is green again."',
      'mailbox broadcast --swarm dev --body "Stand-up in 5 min"',
    ),
  )
  action(command, async (cli, dash: string | undefined, flags: MessageFlags) => {
    const { to: _, ...composed } = await compose(flags, isStdin(dash))
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    answerSent(cli, await mailbox.broadcast(composed))
  })
}

function isStdin(dash: string | undefined): boolean {
  if (dash === undefined || dash === '-') return dash === '-'
  throw new MailboxError('invalid', `unexpected argument ${JSON.stringify(dash)}`, {
    hint: 'pass the text with --body, or use - for standard input',
  })
}

/** Scripts want the id; people want to see the recipients. */
export function answerSent(cli: Cli, { warnings, ...message }: SentMessage): void {
  const { id, to, subject, body, payload, type } = message
  const empty = subject === '' && body === '' && payload === undefined && type === 'text'
  for (const warning of warnings) cli.warn(warning)
  if (empty) cli.warn('the message is empty; add a --subject or a --body')
  cli.answer({ message, warnings }, () =>
    cli.quiet ? id : `sent to ${toPrintableLine(to.join(', '))}: ${id}`,
  )
  cli.tip(`to see its delivery status: ${cli.command(`show ${id}`)}`)
}
