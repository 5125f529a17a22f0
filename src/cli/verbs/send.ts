import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import type { SendInput } from '../../model/fields.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { Mailbox, SentMessage } from '../../space/mailbox/api.ts'
import type { Queued } from '../../space/outbox.ts'
import { actingAs, action, type Cli, shellWord } from '../cli.ts'
import { addMessageOptions, completed, compose, type MessageFlags } from '../compose.ts'
import { clock, day } from '../format/time.ts'
import { examples } from '../help.ts'
import { openFiles, openMailbox, withMailbox } from '../open.ts'
import { collect, given } from '../options.ts'

export function send(command: Command): void {
  addMessageOptions(
    command
      .description('Send a message. It has been saved to disk when this returns.')
      .argument(
        '[to...]',
        'agents (ada), role:architect, a tag (project:x, tag:handoff) or all; none with --tag NS:VALUE; - reads the body from standard input',
      ),
    'text',
  )
    .addHelpText(
      'after',
      examples(
        'mailbox send ada --subject "Plan" --body "Ready for review."',
        'mailbox send role:architect --priority urgent --await --body "Which port?"',
        'mailbox send ada --at "tomorrow 9:00" --body "How far are you?"',
        'git diff | mailbox send bob --subject "The change" -',
        'mailbox send project:inscription bob --body-file notes.md --ttl 2h',
        'mailbox send --tag project:inscription --subject "Schema" --body "It changes today."',
        'mailbox send --from ada --to bob --priority 4 --body "Now, please."',
        `echo '{"to":"ada","body":"hi","payload":{"n":1}}' | mailbox send --input - --json`,
      ),
    )
    .option('--to <address>', 'a recipient, same as the argument; repeatable', collect)
    .option('--from <agent>', 'the sender, same as --as')
    .option(
      '--queue',
      'if the database of the space does not answer, keep it on this machine and send it later',
    )
  type SendFlags = MessageFlags & { to?: string[]; from?: string; queue?: boolean }
  action(command, async (given: Cli, words: string[], { to = [], from, queue, ...flags }: SendFlags) => {
    const cli = actingAs(given, from)
    const written = words.filter((word) => word !== '-')
    const addresses = [...written, ...to]
    const composed = await completed(cli, await compose(flags, words.includes('-')), {
      hint: emptyHint(cli, written),
      about: [`To: ${addresses.join(', ')}`],
    })
    const input = { ...composed, ...(addresses.length > 0 && { to: addresses }) }
    const sent = <T>(sending: Promise<T>): Promise<T> =>
      sending.catch((error: unknown) => {
        throw composed.body === undefined ? aboutText(cli, error, written) : error
      })
    if (queue) return answerQueued(cli, await sent(sendLater(cli, input)))
    const send = async (mailbox: Mailbox) => answerSent(cli, await sent(mailbox.send(input)))
    await withMailbox(cli, send, { creates: true })
  })
}

/** The outbox is in the directory that this machine has for the space. */
async function sendLater(cli: Cli, input: SendInput): Promise<SentMessage | Queued> {
  await using space = await openFiles(cli, { creates: true })
  const mailbox = await openMailbox(cli, space)
  const { sendOrQueue } = await import('../../space/outbox.ts')
  return await sendOrQueue(space, mailbox.name, input, (keyed) => mailbox.send(keyed))
}

function answerQueued(cli: Cli, sent: SentMessage | Queued): void {
  if (!('queued' in sent)) return void answerSent(cli, sent)
  const { key, at } = sent
  cli.answer({ queued: { key, at } }, () => `queued on this machine: ${key}`)
  cli.tip('it is sent by the next command or hub of this machine that reaches the database')
}

/** Every word is a recipient, so a text without --body is taken for one. */
function emptyHint(cli: Cli, [first, ...words]: readonly string[]): string {
  const plain = 'add --body TEXT or --subject TEXT, or - to read the text from standard input'
  return words.length === 0 ? plain : `${textHint(cli, first!, words)}; or ${plain}`
}

function textHint(cli: Cli, to: string, words: readonly string[]): string {
  const [text, verb] = [words.join(' '), words.length === 1 ? 'was' : 'were']
  const taken = words.map((word) => JSON.stringify(word)).join(', ')
  return `${taken} ${verb} taken for ${words.length === 1 ? 'a recipient' : 'recipients'}; to send that as text: ${cli.command(`send ${shellWord(to)} --body ${shellWord(text)}`)}`
}

/** A recipient that nobody knows, behind one that somebody does, may have been meant as the text. */
function aboutText(cli: Cli, error: unknown, words: readonly string[]): unknown {
  if (!(error instanceof MailboxError) || !['unknown_recipient', 'invalid'].includes(error.code)) return error
  const at = words.findIndex((word) => error.message.includes(JSON.stringify(word)))
  if (at < 1) return error
  const hint = [error.hint, textHint(cli, words[0]!, words.slice(at))].filter(Boolean).join('; ')
  return new MailboxError(error.code, error.message, { cause: error, hint })
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
    const { replyTo: _, ...composed } = await completed(cli, await compose(flags, isStdin(dash)), {
      hint: 'add --body TEXT, or - to read the text from standard input',
      about: [`A reply to ${id}`],
    })
    await withMailbox(cli, async (mailbox) =>
      answerSent(cli, await mailbox.reply(id, { ...composed, ...given({ to }) })),
    )
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
    const { to: _, ...composed } = await completed(cli, await compose(flags, isStdin(dash)), {
      hint: 'add --body TEXT or --subject TEXT, or - to read the text from standard input',
      about: ['To: all'],
    })
    await withMailbox(cli, async (mailbox) => answerSent(cli, await mailbox.broadcast(composed)), {
      creates: true,
    })
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
  const { id, seq, to, createdAt, scheduled } = message
  for (const warning of warnings) cli.warn(warning)
  cli.answer({ message, warnings }, () =>
    cli.quiet
      ? id
      : `${scheduled ? `scheduled for ${day(createdAt)} ${clock(createdAt)}` : 'sent'} to ${toPrintableLine(to.join(', '))}: #${seq}  ${id}`,
  )
  if (scheduled) cli.tip(`to take it back: ${cli.command(`withdraw ${seq}`)}`)
  else cli.tip(`to see its delivery status: ${cli.command('show @last')}`)
}
