import type { Command } from 'commander'
import { priorities } from '../../model/message.ts'
import type { UnreadCount } from '../../query/count.ts'
import type { Checked } from '../../space/mailbox/api.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../help.ts'
import { briefAction, mailboxAction } from '../open.ts'
import { addFilters, type FilterFlags, given, whole } from '../options.ts'
import { addPaging, answerPage, type PageFlags } from '../paging.ts'
import { count as grouped } from '../progress.ts'

type CheckFlags = FilterFlags & { budget?: number; after?: string }

const defaultBudget = 2_000

const formats = () => import('../format/message.ts')

export function check(command: Command): void {
  addFilters(
    command
      .description(
        'Read new mail, most urgent first. Messages that are printed are marked as read; those sent to one of your roles become yours.',
      )
      .option('--budget <tokens>', `roughly how much text to print (default ${defaultBudget})`, whole(1)),
  )
    .option('--after <cursor>', 'continue after a message: the `next` value of the previous check')
    .addHelpText(
      'after',
      examples('mailbox check --as ada', 'mailbox check --as ada --min-priority high --budget 500'),
    )
  briefAction(command, async (cli, mailbox, { budget = defaultBudget, ...filter }: CheckFlags) => {
    const checked = await mailbox.check({ ...given(filter), budgetTokens: budget })
    // Without mail there is nothing to render, and less to load.
    const { messageBlocks } = checked.messages.length === 0 ? {} : await formats()
    answerChecked(cli, checked, (messages) => messageBlocks?.(cli, messages, { budgetTokens: budget }) ?? [])
  })
}

export function answerChecked(
  cli: Cli,
  checked: Checked,
  render: (messages: Checked['messages']) => readonly string[] = () => [],
): void {
  const { messages, remaining, later = 0 } = checked
  cli.answer({ ...checked }, () => {
    if (messages.length === 0 && remaining.unread === 0) return 'no new mail'
    const blocks = render(messages)
    const unread = remaining.unread - later
    const rest = [
      ...(unread > 0 ? [`${grouped(unread)} more unread: ${cli.command('check')}`] : []),
      ...(later > 0
        ? [`${grouped(later)} more for your roles, to take when you have finished your task`]
        : []),
    ]
    return [...blocks, ...rest].join('\n\n')
  })
}

type InboxFlags = FilterFlags & PageFlags & { unread?: boolean; all?: boolean }

export function inbox(command: Command): void {
  addPaging(
    addFilters(
      command
        .description('List mail, most urgent first, then oldest first. Nothing is marked as read.')
        .option('--unread', 'only unread mail')
        .option('--all', 'include finished mail'),
    ),
  ).addHelpText(
    'after',
    examples('mailbox inbox --as ada --unread', 'mailbox inbox --from bob --type request --json'),
  )
  mailboxAction(command, async (cli, mailbox, flags: InboxFlags) => {
    await answerPage(cli, await mailbox.inbox(given(flags)), {
      who: 'from',
      empty: 'no mail',
      words: 'inbox',
    })
  })
}

export function read(command: Command): void {
  command
    .description('Read one message in full. If it is addressed to you, it is marked as read.')
    .argument('<id>', 'the message; a unique prefix of its id is enough')
    .addHelpText(
      'after',
      examples('mailbox read ID --as ada', 'mailbox read ID --json | jq -r .message.body'),
    )
  mailboxAction(command, async (cli, mailbox, id: string) => {
    const message = await mailbox.read(id)
    const { messageBlock } = await formats()
    cli.answer({ message }, () => messageBlock(cli, message))
  })
}

export function count(command: Command): void {
  command
    .description('Count unread mail, in total and by priority.')
    .addHelpText('after', examples('mailbox count --as ada', 'mailbox count --json | jq .byPriority.urgent'))
  briefAction(command, async (cli, mailbox) => answerCount(cli, await mailbox.count()))
}

export function answerCount(cli: Cli, { unread, byPriority }: UnreadCount): void {
  cli.answer({ unread, byPriority }, () => {
    const parts = [...priorities]
      .reverse()
      .flatMap((name) => (byPriority[name] > 0 ? `${grouped(byPriority[name])} ${name}` : []))
    return parts.length === 0 ? '0 unread' : `${grouped(unread)} unread: ${parts.join(', ')}`
  })
}
