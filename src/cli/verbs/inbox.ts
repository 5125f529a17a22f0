import type { Command } from 'commander'
import { priorities } from '../../model/message.ts'
import { action, type Cli } from '../cli.ts'
import { messageBlock, messageList } from '../format/message.ts'
import { examples } from '../help.ts'
import { open, openMailbox } from '../open.ts'
import { addFilters, addPaging, type FilterFlags, given, type PageFlags, whole } from '../options.ts'
import { count as grouped } from '../progress.ts'

type CheckFlags = FilterFlags & { budget?: number; after?: string }

const defaultBudget = 2_000

export function check(command: Command): void {
  addFilters(
    command
      .description(
        'Read new mail, the most urgent first. What is printed is marked as shown; mail of your roles becomes yours.',
      )
      .option('--budget <tokens>', `how much text at once, roughly (default ${defaultBudget})`, whole(1)),
  )
    .option('--after <cursor>', 'go on behind a message: `next` of the check before')
    .addHelpText(
      'after',
      examples('mailbox check --as ada', 'mailbox check --as ada --min-priority high --budget 500'),
    )
  action(command, async (cli, { budget = defaultBudget, ...filter }: CheckFlags) => {
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const { messages, next, remaining } = await mailbox.check({ ...given(filter), budgetTokens: budget })
    cli.answer({ messages, next, remaining }, () => {
      if (messages.length === 0 && remaining.unread === 0) return 'no new mail'
      const blocks = messages.map((message, at) =>
        messageBlock(cli, message, { place: `${at + 1} of ${messages.length}`, budgetTokens: budget }),
      )
      const rest =
        remaining.unread === 0 ? [] : [`${grouped(remaining.unread)} more unread: ${cli.command('check')}`]
      return [...blocks, ...rest].join('\n\n')
    })
  })
}

type InboxFlags = FilterFlags & PageFlags & { unread?: boolean; all?: boolean }

export function inbox(command: Command): void {
  addPaging(
    addFilters(
      command
        .description('List mail, the most urgent first, then the oldest. Nothing is marked.')
        .option('--unread', 'only what is new')
        .option('--all', 'finished mail as well'),
    ),
  ).addHelpText(
    'after',
    examples('mailbox inbox --as ada --unread', 'mailbox inbox --from bob --type request --json'),
  )
  action(command, async (cli, flags: InboxFlags) => {
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const { messages, next } = await mailbox.inbox(given(flags))
    cli.answer({ messages, next }, () =>
      messages.length === 0 ? 'no mail' : messageList(cli, messages, 'from'),
    )
    hintNext(cli, 'inbox', next)
  })
}

export function hintNext(cli: Cli, words: string, next: string | null): void {
  if (next !== null && !cli.json) cli.hint(`there is more: ${cli.command(`${words} --after ${next}`)}`)
}

export function read(command: Command): void {
  command
    .description('Read one message in full. Marks it as shown if it is yours.')
    .argument('<id>', 'the message; the beginning of its id is enough where no other begins so')
    .addHelpText(
      'after',
      examples('mailbox read ID --as ada', 'mailbox read ID --json | jq -r .message.body'),
    )
  action(command, async (cli, id: string) => {
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const message = await mailbox.read(id)
    cli.answer({ message }, () => messageBlock(cli, message))
  })
}

export function count(command: Command): void {
  command
    .description('Count what is unread, in all and by priority.')
    .addHelpText('after', examples('mailbox count --as ada', 'mailbox count --json | jq .byPriority.urgent'))
  action(command, async (cli) => {
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const { unread, byPriority } = await mailbox.count()
    cli.answer({ unread, byPriority }, () => {
      const parts = [...priorities]
        .reverse()
        .flatMap((name) => (byPriority[name] > 0 ? `${grouped(byPriority[name])} ${name}` : []))
      return parts.length === 0 ? '0 unread' : `${grouped(unread)} unread: ${parts.join(', ')}`
    })
  })
}
