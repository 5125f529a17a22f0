import type { Command } from 'commander'
import { handOff } from '../../agent/handoff.ts'
import {
  askForHelp,
  escalate as escalateTo,
  requestStatus,
  respondStatus,
  updateStatus,
} from '../../agent/requests.ts'
import { MailboxError } from '../../base/errors.ts'
import type { Priority } from '../../model/message.ts'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { readText } from '../input.ts'
import { open, openMailbox } from '../open.ts'
import { collect, duration, given, priority as parsePriority } from '../options.ts'
import { answerSent } from './send.ts'

interface HandoffFlags {
  subject: string
  workCompleted: string
  currentState?: string
  nextStep?: string[]
  blocker?: string[]
  dependency?: string[]
  fileModified?: string[]
  fileCreated?: string[]
  stateFile?: string
  escalation?: string[]
  job?: string
  notes?: string
  template?: string
  priority?: Priority
  swarm?: string
}

export function handoff(command: Command): void {
  command
    .description(
      'Hand work over, with what was done, where it stands and what comes next. Files go along as attachments.',
    )
    .argument('<to>', 'who takes it on: an agent, role:NAME')
    .requiredOption('--subject <text>', 'one line')
    .requiredOption('--work-completed <text>', 'what was done')
    .option('--current-state <text>', 'where it stands')
    .option('--next-step <text>', 'what comes next; repeatable', collect)
    .option('--blocker <text>', 'what is in the way; repeatable', collect)
    .option('--dependency <text>', 'what it depends on; repeatable', collect)
    .option('--file-modified <path>', 'a file that was changed; repeatable', collect)
    .option('--file-created <path>', 'a file that was made; repeatable', collect)
    .option('--state-file <path>', 'a file that says more')
    .option('--escalation <id>', 'an escalation it belongs to; repeatable', collect)
    .option('--job <id>', 'the job it belongs to')
    .option('--notes <text>', 'anything else')
    .option('--template <name>', 'start from implementation, review, bug, research or one of the space')
    .option('--priority <priority>', 'low, normal, high, urgent (default high)', parsePriority)
    .option('--swarm <name>', 'the swarm this belongs to')
    .addHelpText(
      'after',
      examples(
        'mailbox handoff bob --as ada --subject "Parser" --work-completed "Design in DESIGN.md" --next-step "Build it" --file-modified DESIGN.md',
        'mailbox handoff role:reviewer --as bob --subject "Parser" --work-completed "Built, 40 tests" --template review',
      ),
    )
  action(command, async (cli, to: string, flags: HandoffFlags) => {
    const { subject, workCompleted, currentState, stateFile, notes, template, priority, swarm } = flags
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const more = given({
      ...{ currentState, stateFile, notes, template, priority, swarm, jobId: flags.job },
      ...{ nextSteps: flags.nextStep, blockers: flags.blocker, dependencies: flags.dependency },
      ...{ filesModified: flags.fileModified, filesCreated: flags.fileCreated },
      relatedEscalations: flags.escalation,
    })
    answerSent(cli, await handOff(mailbox, { to, subject, workCompleted, ...more }))
  })
}

interface HelpFlags {
  to?: string
  subject?: string
  body: string
  priority?: Priority
  within?: number
}

export function helpRequest(command: Command): void {
  command
    .description(
      'Ask for help. You count as waiting until somebody answers; the answer is the first thing you see.',
    )
    .option('--to <address>', 'whom to ask (default: whoever leads)')
    .option('--subject <text>', 'one line')
    .requiredOption('--body <text>', 'what you need to know; - reads standard input')
    .option('--priority <priority>', 'low, normal, high, urgent (default urgent)', parsePriority)
    .option('--within <duration>', 'by when: 15m, 2h', duration)
    .addHelpText('after', examples('mailbox help-request --as ada --body "Which port does the API use?"'))
  action(command, async (cli, { to, subject, body, priority, within }: HelpFlags) => {
    const text = body === '-' ? await readText('-') : body
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const sent = await askForHelp(mailbox, {
      body: text,
      ...given({ to, subject, priority, withinMs: within }),
    })
    answerSent(cli, sent)
    cli.tip(`wait for the answer: ${cli.command(`wait --reply-to ${sent.id}`)}`)
  })
}

interface EscalateFlags {
  reason: string
  to?: string
  subject?: string
  body?: string
  related?: string[]
}

export function escalate(command: Command): void {
  command
    .description('Take a matter to whoever leads, or from the lead to the person.')
    .argument('[id]', 'the message it is about')
    .requiredOption('--reason <text>', 'why')
    .option('--to <address>', 'whom to tell (default: whoever leads, or the person)')
    .option('--subject <text>', 'one line')
    .option('--body <text>', 'more about it')
    .option('--related <id>', 'another message it belongs to; repeatable', collect)
    .addHelpText('after', examples('mailbox escalate ID --as ada --reason "Blocked for two hours."'))
  action(command, async (cli, about: string | undefined, flags: EscalateFlags) => {
    const { reason, ...rest } = flags
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    answerSent(cli, await escalateTo(mailbox, { reason, ...given({ ...rest, about }) }))
  })
}

interface StatusFlags {
  of?: string
  replyTo?: string
  status?: string
  body?: string
  task?: string
  progress?: string
  to?: string
}

export function status(command: Command): void {
  command
    .description('Ask an agent how far it is (--of), answer that (--reply-to), or report to whoever leads.')
    .option('--of <agent>', 'ask this agent')
    .option('--reply-to <id>', 'the request this answers')
    .option('--status <word>', 'working, blocked, completed, failed ...')
    .option('--task <id>', 'the task it is about; completed and failed settle it')
    .option('--progress <share>', 'from 0 to 1')
    .option('--body <text>', 'more about it')
    .option('--to <address>', 'whom to report to (default: whoever leads)')
    .addHelpText(
      'after',
      examples(
        'mailbox status --of ada --as lead',
        'mailbox status --reply-to ID --as ada --status working --body "Half of the tests."',
        'mailbox status --as ada --task T-7 --status completed',
      ),
    )
  action(command, async (cli, flags: StatusFlags) => {
    const { of, replyTo, status: word, body, task, to } = flags
    const progress = flags.progress === undefined ? undefined : share(flags.progress)
    if (of === undefined && word === undefined) {
      throw new MailboxError('invalid', 'there is no status to report', {
        hint: 'give --status, or ask somebody: --of NAME',
      })
    }
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const report = { status: word!, ...given({ body, taskId: task, progress }) }
    if (of !== undefined) answerSent(cli, await requestStatus(mailbox, of, given({ body })))
    else if (replyTo !== undefined) answerSent(cli, await respondStatus(mailbox, replyTo, report))
    else answerSent(cli, await updateStatus(mailbox, { ...report, ...given({ to }) }))
  })
}

function share(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0 && value <= 1) return value
  throw new MailboxError('invalid', `${JSON.stringify(text)} is not a share`, {
    hint: 'give a number from 0 to 1',
  })
}
