import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { person } from '../../model/agent.ts'
import { action } from '../cli.ts'
import { ladder } from '../format/ladder.ts'
import { messageBlock, messageList } from '../format/message.ts'
import { examples } from '../help.ts'
import { open, openMailbox } from '../open.ts'
import { addPaging, given, type PageFlags } from '../options.ts'
import { hintNext } from './inbox.ts'

export function show(command: Command): void {
  command
    .description(
      'Show a message from outside: who has it, and when each step was taken and by whom. Marks nothing.',
    )
    .argument('<id>', 'the message; the beginning of its id is enough where no other begins so')
    .addHelpText('after', examples('mailbox show ID', "mailbox show ID --json | jq '.receipts[].state'"))
  action(command, async (cli, id: string) => {
    await using space = await open(cli)
    const { message, receipts } = await space.show(id)
    cli.answer({ message, receipts }, () => ladder(cli, { message, receipts }))
  })
}

export function thread(command: Command): void {
  command
    .description('Show a whole thread, the oldest first. Marks nothing.')
    .argument('<id>', 'any message of the thread, or the name of the thread')
    .addHelpText('after', examples('mailbox thread ID'))
  action(command, async (cli, id: string) => {
    await using space = await open(cli)
    // A thread is the same for everybody, so nobody has to have joined to see it.
    const messages = await (await space.mailbox(person)).thread(id)
    cli.answer({ messages, next: null }, () =>
      messages
        .map((message, at) => messageBlock(cli, message, { place: `${at + 1} of ${messages.length}` }))
        .join('\n\n'),
    )
  })
}

export function sent(command: Command): void {
  addPaging(command.description('List what you have sent, the newest first.')).addHelpText(
    'after',
    examples('mailbox sent --as ada', 'mailbox sent --limit 10 --json'),
  )
  action(command, async (cli, flags: PageFlags) => {
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const { messages, next } = await mailbox.sent(given(flags))
    cli.answer({ messages, next }, () =>
      messages.length === 0 ? 'nothing sent' : messageList(cli, messages, 'to'),
    )
    hintNext(cli, 'sent', next)
  })
}

export function search(command: Command): void {
  addPaging(
    command
      .description(
        'Search all messages, the newest first. Words must all occur; "quotes" make a phrase, word* matches beginnings, - negates.\n' +
          'Operators: from: to: tag: type: is:unread has:attachment before: after: (dates as 2026-11-15).',
      )
      .argument('<query...>', 'words and operators')
      // `-type:ack` is a term of the query, not an option.
      .allowUnknownOption(),
  ).addHelpText(
    'after',
    examples('mailbox search plan from:ada -type:ack', 'mailbox search has:attachment after:2026-11-01'),
  )
  action(command, async (cli, words: string[], flags: PageFlags) => {
    const unknown = words.find((word) => word.startsWith('--'))
    if (unknown !== undefined) {
      throw new MailboxError('invalid', `unknown option '${unknown}'`, {
        hint: 'add --help to see what it takes',
      })
    }
    const query = words.join(' ')
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const { messages, next } = await mailbox.search(query, given(flags))
    cli.answer({ messages, next }, () =>
      messages.length === 0 ? 'nothing found' : messageList(cli, messages, 'from'),
    )
    hintNext(cli, `search ${query}`, next)
  })
}
