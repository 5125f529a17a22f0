import type { Command } from 'commander'
import { approvePlan, rejectPlan, submitPlan } from '../../agent/requests.ts'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { open, openMailbox } from '../open.ts'
import { duration, given } from '../options.ts'
import { answerSent } from './send.ts'

interface SubmitFlags {
  to?: string
  subject: string
  body: string
  task?: string
  revises?: string
  within?: number
}

export function plan(command: Command): void {
  command
    .description('Submit a plan, and approve or reject one. An agent has one open plan for a task at a time.')
    .helpCommand(false)
    .addHelpText(
      'after',
      examples(
        'mailbox plan submit --as ada --to role:lead --subject "Cut the parser" --body "First the lexer ..." --task T-7',
        'mailbox plan approve ID --as lead --feedback "Mind the tests."',
        'mailbox plan reject ID --as lead --feedback "Too large: begin with the lexer."',
        'mailbox plan submit --as ada --subject "Cut the lexer" --body "..." --task T-7 --revises ID',
      ),
    )
  action(
    command
      .command('submit')
      .summary('submit a plan, or a new version of a rejected one')
      .option('--to <address>', 'who decides (default: whoever leads)')
      .requiredOption('--subject <text>', 'what it is about')
      .requiredOption('--body <text>', 'the plan, in Markdown')
      .option('--task <id>', 'the task it is for')
      .option('--revises <id>', 'the rejected plan that this one replaces')
      .option('--within <duration>', 'by when you need an answer: 15m, 2h', duration),
    async (cli, { to, subject, body, task, revises, within }: SubmitFlags) => {
      await using space = await open(cli)
      const mailbox = await openMailbox(cli, space)
      const more = given({ to, taskId: task, revises, withinMs: within })
      answerSent(cli, await submitPlan(mailbox, { subject, body, ...more }))
    },
  )
  action(
    command
      .command('approve')
      .summary('approve a plan')
      .argument('<id>', 'the plan')
      .option('--feedback <text>', 'what to mind'),
    async (cli, id: string, flags: { feedback?: string }) => {
      await using space = await open(cli)
      answerSent(cli, await approvePlan(await openMailbox(cli, space), id, given(flags)))
    },
  )
  action(
    command
      .command('reject')
      .summary('reject a plan and say why')
      .argument('<id>', 'the plan')
      .requiredOption('--feedback <text>', 'what has to change'),
    async (cli, id: string, { feedback }: { feedback: string }) => {
      await using space = await open(cli)
      answerSent(cli, await rejectPlan(await openMailbox(cli, space), id, { feedback }))
    },
  )
}
