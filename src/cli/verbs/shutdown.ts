import type { Command } from 'commander'
import { acceptShutdown, deferShutdown, requestShutdown } from '../../agent/requests.ts'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { open, openMailbox } from '../open.ts'
import { duration, given } from '../options.ts'
import { answerSent } from './send.ts'

export function shutdown(command: Command): void {
  command
    .description(
      'Ask an agent to stop, and answer that. It is for the run that is there now, never for a successor.',
    )
    .helpCommand(false)
    .addHelpText(
      'after',
      examples(
        'mailbox shutdown request ada --as lead --reason "The task was called off." --within 60s',
        'mailbox shutdown defer ID --as ada --reason "Finishing the tests."',
        'mailbox shutdown accept ID --as ada',
      ),
    )
  action(
    command
      .command('request')
      .summary('ask an agent to stop')
      .argument('<agent>', 'who is to stop')
      .option('--reason <text>', 'why')
      .option('--within <duration>', 'by when; you are told if it has not stopped by then', duration),
    async (cli, agent: string, { reason, within }: { reason?: string; within?: number }) => {
      await using space = await open(cli)
      const mailbox = await openMailbox(cli, space)
      answerSent(cli, await requestShutdown(mailbox, agent, given({ reason, withinMs: within })))
    },
  )
  action(
    command.command('accept').summary('say that you stop').argument('<id>', 'the request'),
    async (cli, id: string) => {
      await using space = await open(cli)
      answerSent(cli, await acceptShutdown(await openMailbox(cli, space), id))
    },
  )
  action(
    command
      .command('defer')
      .summary('say that you stop later, and why')
      .argument('<id>', 'the request')
      .requiredOption('--reason <text>', 'what has to be finished first'),
    async (cli, id: string, { reason }: { reason: string }) => {
      await using space = await open(cli)
      answerSent(cli, await deferShutdown(await openMailbox(cli, space), id, { reason }))
    },
  )
}
