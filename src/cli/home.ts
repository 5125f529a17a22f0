import { needs } from '../conversation/registry.ts'
import { person } from '../model/agent.ts'
import { toPrintableLine } from '../model/text.ts'
import type { Need } from '../query/needs.ts'
import type { OpenedSpace } from '../space/api.ts'
import { type Cli, createCli } from './cli.ts'
import { subjectIn } from './format/foreign.ts'
import { relative } from './format/time.ts'
import { foundPlace, open, peekMailbox, spaceDir, spaceExists } from './open.ts'
import { count } from './progress.ts'

/** The verbs that one needs, in the order in which one meets them. */
const daily: readonly (readonly [words: string, about: string])[] = [
  ['join NAME', 'add an agent to the roster'],
  ['send TO --body TEXT', 'send to an agent, role:NAME, a tag or all'],
  ['check', 'read new mail and mark it as read'],
  ['inbox', 'list mail without marking it as read'],
  ['reply ID --body TEXT', 'reply to a message'],
  ['done ID', 'mark a message as done'],
  ['wait', 'wait for mail'],
  ['thread ID', 'show a whole conversation'],
  ['search WORDS', 'find messages'],
  ['top', 'watch the agents and decide what needs you'],
  ['owed', 'see who owes whom an answer'],
  ['serve', 'start the console and the HTTP API'],
]
const mostListed = 5

/** What `mailbox` says by itself: a dozen verbs, and what waits now. */
export async function home(): Promise<string> {
  const cli = createCli({})
  const width = Math.max(...daily.map(([words]) => words.length))
  const verbs = daily.map(([words, about]) => `  ${words.padEnd(width)}  ${cli.colors.dim(about)}`)
  return [
    'Durable, addressed mail for AI agents. A person can see and steer everything.',
    '',
    ...verbs,
    '',
    'An ID can be a number (12), a prefix, or @last.',
    'To list all verbs: mailbox --help. To explain one: mailbox VERB --help.',
    '',
    ...(await waiting(cli)),
  ].join('\n')
}

async function waiting(cli: Cli): Promise<string[]> {
  if (foundPlace(cli).kind === 'directory') {
    const dir = spaceDir(cli)
    if (!spaceExists(dir))
      return [
        `There is no space in ${toPrintableLine(dir)} yet.`,
        `To create it: ${cli.command('join NAME')}`,
      ]
  }
  await using space = await open(cli)
  if (cli.actor !== person) return await unreadIn(cli, space)
  const where = toPrintableLine(space.place)
  const { isForPerson } = await import('../space/survey.ts')
  const asked = (await space.needs()).filter(isForPerson)
  if (asked.length === 0) return [`Nothing needs you in ${where}.`]
  const blocked = new Set(asked.flatMap(({ frees }) => frees.map(({ agent }) => agent))).size
  const more = asked.length - mostListed
  return [
    `${count(asked.length)} ${asked.length === 1 ? 'item needs' : 'items need'} you in ${where}${
      blocked === 0 ? '' : `; ${count(blocked)} ${blocked === 1 ? 'agent is' : 'agents are'} blocked`
    }:`,
    ...asked.slice(0, mostListed).map((need) => lineOf(cli, need)),
    ...(more > 0 ? [`  … and ${count(more)} more: ${cli.command('top')}`] : []),
  ]
}

async function unreadIn(cli: Cli, space: OpenedSpace): Promise<string[]> {
  const { unread } = await (await peekMailbox(cli, space)).count()
  const state = unread === 0 ? 'no new mail' : `${count(unread)} unread`
  return [`${toPrintableLine(cli.actor)} in ${toPrintableLine(space.place)}: ${state}`]
}

function lineOf(cli: Cli, { kind, message, since, frees }: Need): string {
  const number = cli.colors.cyan(String(message.seq).padStart(6))
  const label = needs.get(kind) ?? kind
  const gain = frees.length > 1 ? `, frees ${frees.length}` : ''
  const facts = `${label} from ${toPrintableLine(message.from)}, ${relative(since, cli.now)}${gain}`
  return `${number}  ${subjectIn(cli, message)}  ${cli.colors.dim(facts)}`
}
