import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { signHead } from '../../space/head.ts'
import { action } from '../cli.ts'
import { createEntryWriter } from '../format/entry.ts'
import { examples } from '../help.ts'
import { existingSpaceDir, open } from '../open.ts'
import { addPaging, hintNext, type PageFlags } from '../paging.ts'

export function audit(command: Command): void {
  addPaging(
    command
      .description(
        'Show what happened in the space besides mail, newest first: what was refused, tokens and keys, settings, roles,\n' +
          'imports, repairs, starts of the hub, and who came and went.',
      )
      .option('--head', 'print the signed end of the journal instead, to keep it somewhere else'),
  ).addHelpText(
    'after',
    examples('mailbox audit', 'mailbox audit --limit 200 --json', 'mailbox audit --head > head.json'),
  )
  action(command, async (cli, { head: isHead, ...page }: PageFlags & { head?: boolean }) => {
    if (isHead) {
      const head = signHead(existingSpaceDir(cli))
      if (head === undefined)
        throw new MailboxError('not_found', 'nothing was sent yet, or there is no key to sign with', {
          hint: 'see `mailbox key list`',
        })
      cli.answer(head, () => JSON.stringify(head))
      cli.tip('to compare the journal with it later: mailbox verify --head FILE')
      return
    }
    await using space = await open(cli)
    const found = await space.audit(page)
    const format = createEntryWriter(cli)
    cli.answer(found, () =>
      found.entries.length === 0 ? 'nothing yet' : found.entries.map((entry) => format(entry)).join('\n'),
    )
    hintNext(cli, 'audit', found.next)
  })
}
