import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import type { Message, Priority } from '../../model/message.ts'
import { checkRoute, describeEffect, type Route, type Routed, targetsOf } from '../../model/routes.ts'
import { toPrintableLine } from '../../model/text.ts'
import { tryToRecord } from '../../space/audit.ts'
import { type RouteTest, warningsFor } from '../../space/routing.ts'
import { readSettings, writeSetting } from '../../space/settings.ts'
import { changeShared } from '../../space/shared.ts'
import type { DiskSpace } from '../../space/space.ts'
import { action, type Cli } from '../cli.ts'
import { addMessageOptions, compose, type MessageFlags } from '../compose.ts'
import { table } from '../format/table.ts'
import { examples } from '../help.ts'
import { open, openFiles, personAction, settingsOf } from '../open.ts'
import { collect, given, priority, whole } from '../options.ts'
import { whenUsed } from './config.ts'

export function route(command: Command): void {
  command
    .description(
      [
        'Show and change the rules that choose who gets a message. When a message is sent, the first rule whose',
        'conditions all hold gives it other recipients or another priority. Replies, mail for one run of an agent',
        'and notices of the system are not routed, nor is mail from the agents that the rule would send it to.',
      ].join(' '),
    )
    .helpCommand(false)
    .addHelpText(
      'after',
      examples(
        'mailbox route add type:ci_failure --to role:ci',
        'mailbox route add from:role:worker priority:urgent --also --to role:lead',
        'mailbox route add \'subject:"out of disk"\' --to ops --priority high',
        'mailbox route list',
        'mailbox route test ada --as bob --type ci_failure',
        'mailbox route remove 2',
      ),
    )
  defineAdd(command.command('add'))
  action(command.command('list').summary('list the rules in their order'), async (cli) => {
    const { routes } = await settingsOf(cli)
    cli.answer({ routes: routes.map(numbered) }, () => listText(cli, routes))
  })
  personAction(
    command
      .command('remove')
      .summary('remove a rule')
      .argument('<number>', 'its number in the list', whole(1)),
    changeRules,
    remove,
  )
  defineTest(command.command('test'))
}

const changeRules = 'change the routing rules'

const numbered = ({ when, also = false, ...rest }: Route, at: number) => ({
  ...{ rule: at + 1, when, to: targetsOf(rest), also },
  ...given({ priority: rest.priority }),
})

interface AddFlags {
  to?: string[]
  also?: boolean
  priority?: Priority
  at?: number
}

function defineAdd(command: Command): void {
  command
    .summary('add a rule')
    .argument(
      '<condition...>',
      'type:NAME tag:TAG from:ADDRESS to:ADDRESS priority:NAME subject:WORD body:WORD, or words in the subject or body; A,B means one of them',
    )
    .option('--to <address>', 'who gets the mail instead; repeatable', collect)
    .option('--also', 'send it to these as well, not instead')
    .option('--priority <priority>', 'give it this priority: low, normal, high, urgent', priority)
    .option('--at <n>', 'put the rule at this place (default: at the end)', whole(1))
  personAction(command, changeRules, async (cli, conditions: string[], flags: AddFlags) => {
    const { to, also, priority, at } = flags
    const added: unknown = { when: conditions.join(' '), ...given({ to, also, priority }) }
    checkRoute(added)
    await using space = await openFiles(cli, { creates: true })
    const place = await changeRoutes(cli, space, (routes) => {
      const index = Math.min((at ?? routes.length + 1) - 1, routes.length)
      return { routes: routes.toSpliced(index, 0, added), result: index }
    })
    for (const warning of await warningsFor(space.core, added)) cli.warn(warning)
    cli.confirm(
      { route: numbered(added, place) },
      () => `rule ${place + 1}: ${added.when}: ${describeEffect(added)}`,
    )
    cli.tip(whenUsed)
  })
}

async function remove(cli: Cli, number: number): Promise<void> {
  await using space = await openFiles(cli)
  const removed = await changeRoutes(cli, space, (routes) => {
    const found = routes[number - 1]
    if (found !== undefined) return { routes: routes.toSpliced(number - 1, 1), result: found }
    throw new MailboxError('not_found', `there is no rule ${number}`, { hint: 'mailbox route list' })
  })
  cli.confirm({ removed: numbered(removed, number - 1) }, () => `removed rule ${number}: ${removed.when}`)
  cli.tip(whenUsed)
}

/** Two who change the rules at once both succeed. */
async function changeRoutes<T>(
  { actor }: Cli,
  { core, dir }: DiskSpace,
  change: (routes: readonly Route[]) => { routes: Route[]; result: T },
): Promise<T> {
  const write = () =>
    core.exclusively(() => {
      const { routes, result } = change(readSettings(dir).routes)
      writeSetting(dir, 'routes', routes)
      return result
    })
  const changed = await changeShared(dir, 'config.json', write)
  await tryToRecord(core, { event: 'setting_changed', by: actor, about: 'routes' })
  return changed
}

function listText(cli: Cli, routes: readonly Route[]): string {
  if (routes.length === 0) return 'no rules; to add one: mailbox route add CONDITION --to ADDRESS'
  const rows = routes.map((one, at) => [`${at + 1}`, one.when, describeEffect(one)])
  const columns = [{ head: 'RULE' }, { head: 'WHEN', flexible: true }, { head: 'GOES', flexible: true }]
  return table(columns, rows, cli.width, cli.colors).join('\n')
}

function defineTest(command: Command): void {
  addMessageOptions(
    command
      .summary('say which rule would take a message, and where it would go')
      .argument('[to...]', 'the recipients that the sender names; --as says who sends it'),
    'text',
  ).option('--like <id>', 'take the fields of a message that was sent before')
  type TestFlags = MessageFlags & { like?: string }
  action(command, async (cli, to: string[], { like, ...flags }: TestFlags) => {
    await using space = await open(cli)
    const model = like === undefined ? undefined : asSent((await space.show(like)).message)
    const input = { ...model?.input, ...(await compose(flags, false)), ...(to.length > 0 && { to }) }
    const from = cli.globals.as ?? model?.from ?? cli.actor
    const found = await space.testRoute(from, input)
    for (const warning of found.warnings) cli.warn(warning)
    cli.answer(found, () => toPrintableLine(testText(found)))
  })
}

/** A message as its sender gave it, as far as rules look at it. */
function asSent({ from, to, type, priority: given, tags, subject, body, routed }: Message) {
  const before = routed as unknown as Routed | undefined
  const input = { to: before?.sentTo ?? to, type, priority: before?.priority ?? given, tags, subject, body }
  return { from, input }
}

function testText({ rule, when, sentTo, to, priority: becomes }: RouteTest): string {
  const goes = to.length === 0 ? 'it has no recipient' : `it goes to ${to.join(', ')}`
  if (rule === null) return `no rule takes it: ${goes}`
  const instead = sentTo.length === 0 ? '' : ` (sent to ${sentTo.join(', ')})`
  return `rule ${rule} (${when}) takes it: ${goes}${instead}, with priority ${becomes}`
}
