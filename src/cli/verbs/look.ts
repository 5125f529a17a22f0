import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { person } from '../../model/agent.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { StoredMessage } from '../../query/message.ts'
import type { OpenedSpace } from '../../space/api.ts'
import { readPersonFile, saveView, viewNamed } from '../../space/person-file.ts'
import { DiskSpace } from '../../space/space.ts'
import { action, type Cli, shellWord } from '../cli.ts'
import { usageHint } from '../exit.ts'
import { subjectIn } from '../format/foreign.ts'
import { ladder } from '../format/ladder.ts'
import { messageBlocks } from '../format/message.ts'
import { truncate } from '../format/table.ts'
import { absolute } from '../format/time.ts'
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
    const messages = await space.thread(id)
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

export function scheduled(command: Command): void {
  command
    .description('List what you have written with --at and that has not been sent yet, the earliest first.')
    .addHelpText('after', examples('mailbox scheduled', 'mailbox withdraw ID'))
  mailboxAction(command, async (cli, mailbox) => {
    const messages = await mailbox.scheduled()
    const line = (message: StoredMessage) => {
      const { seq, id, to, createdAt } = message
      const what = `${absolute(createdAt)}  to ${to.join(', ')}: ${subjectIn(cli, message)}`
      return `${truncate(toPrintableLine(what), cli.width)}\n  #${seq}  ${id}`
    }
    cli.answer({ messages }, () => messages.map(line).join('\n') || 'nothing is scheduled')
  })
}

interface SearchFlags extends PageFlags {
  save?: string
  forget?: string
  views?: boolean
}

export function search(command: Command): void {
  addPaging(
    command
      .description(
        'Search all messages, newest first. Matches all words; "quotes" make a phrase, word* matches prefixes, - excludes.\n' +
          'Operators: from: to: tag: type: priority: is:unread is:mine is:open has:attachment before: after: (2026-11-15, or 24h ago).\n' +
          '@NAME is a saved search, which the console shows too.',
      )
      .argument('[query...]', 'words and operators, or @NAME')
      .option('--save <name>', 'save the search under a name')
      .option('--forget <name>', 'remove a saved search')
      .option('--views', 'list the saved searches')
      // `-type:ack` is a search term, not an option.
      .allowUnknownOption(),
  ).addHelpText(
    'after',
    examples(
      'mailbox search plan from:ada -type:ack',
      'mailbox search has:attachment after:24h',
      'mailbox search priority:urgent is:open --save loud',
      'mailbox search @loud',
    ),
  )
  action(command, async (cli, terms: string[], { save, forget, views, ...page }: SearchFlags) => {
    const unknown = terms.find((term) => term.startsWith('--'))
    if (unknown !== undefined) {
      throw new MailboxError('invalid', `unknown option '${unknown}'`, { hint: usageHint })
    }
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    if (forget !== undefined) {
      mustBePersons(cli)
      const { views: left } = saveView(viewsDir(space), forget, null)
      return cli.confirm({ views: left }, () => `removed ${toPrintableLine(forget)}`)
    }
    if (views) return listViews(cli, readPersonFile(viewsDir(space)).views)
    const written = terms.join(' ')
    const query = terms
      .map((term) => (/^@./.test(term) ? viewNamed(viewsDir(space), term.slice(1)) : term))
      .join(' ')
    const found = await mailbox.search(query, given(page))
    if (found.notes !== undefined)
      throw new MailboxError('invalid', found.notes.join('; '), {
        hint: `to search for the text itself, quote it: ${cli.command(`search ${shellWord(quoted(query, found.notes))}`)}`,
      })
    if (save !== undefined) {
      mustBePersons(cli)
      saveView(viewsDir(space), save, query)
      cli.hint(`saved; to search again: ${cli.command(`search @${shellWord(save)}`)}`)
    }
    await answerPage(cli, found, { who: 'from', empty: 'no matches', words: `search ${written}` })
  })
}

/** The terms that were not taken for operators, as a phrase. */
function quoted(query: string, notes: readonly string[]): string {
  const isNoted = (term: string) => notes.some((note) => note.startsWith(term.replace(/^-?([^:]*:).*/, '$1')))
  const terms = query.split(/\s+/).filter((term) => term.includes(':') && isNoted(term))
  return terms.map((term) => `"${term}"`).join(' ') || '"colour:red"'
}

function viewsDir(space: OpenedSpace): string {
  if (space instanceof DiskSpace) return space.dir
  throw new MailboxError('invalid', 'saved searches are kept in the files of the space', {
    hint: 'use them on the machine of the hub, or in the console',
  })
}

/** An agent has no list of its own: what is saved shows up in the person's console. */
function mustBePersons(cli: Cli): void {
  if (cli.actor === person) return
  throw new MailboxError('not_permitted', 'only the person saves searches', {
    hint: 'search without --save',
  })
}

function listViews(cli: Cli, views: Readonly<Record<string, string>>): void {
  const names = Object.keys(views)
  cli.answer({ views }, () =>
    names.length === 0
      ? 'no saved searches'
      : names.map((name) => `@${toPrintableLine(name)}  ${toPrintableLine(views[name]!)}`).join('\n'),
  )
}
