import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { person } from '../../model/agent.ts'
import { toPrintableLine } from '../../model/text.ts'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { existingSpaceDir, open } from '../open.ts'
import { count } from '../progress.ts'

export function whoami(command: Command): void {
  command
    .description('Show who you act as, in which space, and what is unread.')
    .addHelpText('after', examples('mailbox whoami', 'mailbox --as ada whoami', 'mailbox whoami --jq .agent'))
  action(command, async (cli) => {
    await using space = await open(cli)
    const agent = (await space.agents()).find(({ name }) => name === cli.actor)
    const hasJoined = agent !== undefined
    const unread = hasJoined ? (await space.mailboxInside(cli.actor).count()).unread : 0
    const { state, roles = [], tags = [] } = agent ?? {}
    const facts = { agent: cli.actor, joined: hasJoined, state: state ?? null, roles, tags, unread }
    cli.answer({ ...facts, space: space.id, dir: space.dir }, () =>
      [
        `${toPrintableLine(cli.actor)}${cli.actor === person ? ', the person' : ''}`,
        ...(hasJoined ? [] : [`  has not joined: ${cli.command('join NAME')}`]),
        ...(roles.length === 0 ? [] : [`  roles: ${toPrintableLine(roles.join(', '))}`]),
        ...(tags.length === 0 ? [] : [`  tags: ${toPrintableLine(tags.join(', '))}`]),
        `  space: ${toPrintableLine(space.dir)}`,
        `  unread: ${count(unread)}`,
      ].join('\n'),
    )
  })
}

export function openConsole(command: Command): void {
  command
    .description(
      'Open the console of the running hub in the browser, at a message or a thread if one is given.',
    )
    .argument('[id]', 'the message to show')
    .option('--print', 'print the link instead of opening it')
    .addHelpText('after', examples('mailbox open', 'mailbox open @last', 'mailbox open 12 --print'))
  action(command, async (cli, id: string | undefined, { print = false }: { print?: boolean }) => {
    const { linkIfAny } = await import('../../hub/link.ts')
    const start = linkIfAny(existingSpaceDir(cli))
    if (start === undefined)
      throw new MailboxError('not_found', 'no hub of this space is running here', {
        hint: 'start one: mailbox serve',
      })
    const link = new URL(start)
    if (id !== undefined) {
      await using space = await open(cli)
      const { message } = await space.show(id)
      link.pathname = `/messages/${message.id}`
    }
    const isOpened = !print && !cli.json && (await openInBrowser(link.href))
    cli.answer({ link: link.href }, () => (isOpened ? `Opened ${link.origin}${link.pathname}` : link.href))
  })
}

/** Whether a program was there to open it. */
function openInBrowser(link: string): Promise<boolean> {
  const opener = process.env['BROWSER'] || (process.platform === 'darwin' ? 'open' : 'xdg-open')
  return new Promise((resolve) => {
    const child = spawn(opener, [link], { stdio: 'ignore', detached: true })
    child.on('error', () => resolve(false))
    child.on('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
