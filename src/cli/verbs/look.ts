import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { person } from '../../model/agent.ts'
import { action } from '../cli.ts'
import { usageHint } from '../exit.ts'
import { ladder } from '../format/ladder.ts'
import { messageBlocks } from '../format/message.ts'
import { examples } from '../help.ts'
import { mailboxAction, open, openMailbox } from '../open.ts'
import { given } from '../options.ts'
import { addPaging, answerPage, type PageFlags } from '../paging.ts'

export function show(command: Command): void {
  command
    .description(
      'Show the delivery status of a message: for each recipient, every step with its time and author, and to whom it was escalated. Nothing is marked as read.',
    )
    .argument('<id>', 'the message; a unique prefix of its id is enough')
    .addHelpText('after', examples('mailbox show ID', "mailbox show ID --json | jq '.receipts[].state'"))
  action(command, async (cli, id: string) => {
    await using space = await open(cli)
    const shown = await space.show(id)
    cli.answer(shown, () => ladder(cli, shown))
  })
}

export function thread(command: Command): void {
  command
    .description('Show a whole thread, oldest first. Nothing is marked as read.')
    .argument('<id>', 'any message in the thread, or the thread id')
    .addHelpText('after', examples('mailbox thread ID'))
  action(command, async (cli, id: string) => {
    await using space = await open(cli)
    // A thread looks the same to everyone, so the caller need not have joined.
    const messages = await space.mailboxInside(person).thread(id)
    cli.answer({ messages, next: null }, () => messageBlocks(cli, messages).join('\n\n'))
  })
}

export function sent(command: Command): void {
  addPaging(command.description('List the messages you sent, newest first.')).addHelpText(
    'after',
    examples('mailbox sent --as ada', 'mailbox sent --limit 10 --json'),
  )
  mailboxAction(command, async (cli, mailbox, flags: PageFlags) => {
    await answerPage(cli, await mailbox.sent(given(flags)), {
      who: 'to',
      empty: 'nothing sent',
      words: 'sent',
    })
  })
}

export function search(command: Command): void {
  addPaging(
    command
      .description(
        'Search all messages, newest first. Matches all words; "quotes" make a phrase, word* matches prefixes, - excludes.\n' +
          'Operators: from: to: tag: type: is:unread has:attachment before: after: (dates such as 2026-11-15).',
      )
      .argument('<query...>', 'words and operators')
      // `-type:ack` is a search term, not an option.
      .allowUnknownOption(),
  ).addHelpText(
    'after',
    examples('mailbox search plan from:ada -type:ack', 'mailbox search has:attachment after:2026-11-01'),
  )
  action(command, async (cli, terms: string[], flags: PageFlags) => {
    const unknown = terms.find((term) => term.startsWith('--'))
    if (unknown !== undefined) {
      throw new MailboxError('invalid', `unknown option '${unknown}'`, { hint: usageHint })
    }
    const query = terms.join(' ')
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const words = `search ${query}`
    await answerPage(cli, await mailbox.search(query, given(flags)), {
      who: 'from',
      empty: 'no matches',
      words,
    })
  })
}
