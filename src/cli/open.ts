import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { person } from '../model/agent.ts'
import { toPrintableLine } from '../model/text.ts'
import { clientAgents, mustBePerson } from '../space/acting.ts'
import { rememberFirstHead } from '../space/head.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { openDisk } from '../space/open.ts'
import { findSpace } from '../space/settings.ts'
import { fetchShared } from '../space/shared.ts'
import type { DiskSpace } from '../space/space.ts'
import type { FoundSpace } from '../space/trust.ts'
import { action, type Cli, shellWord } from './cli.ts'
import { createProgress } from './progress.ts'

export interface OpenOptions {
  /** Create the space if there is none. Only verbs that bring something into it do. @default false: an error */
  creates?: boolean
}

export const foundSpace = ({ globals }: Cli): FoundSpace =>
  findSpace({ given: globals.space, env: process.env, cwd: process.cwd() })

/** The space of a verb. One that was found and passed over is named once: its mail does not come here. */
export function spaceDir(cli: Cli): string {
  const { dir, passedOver } = foundSpace(cli)
  for (const one of passedOver)
    if (!named.has(one)) {
      named.add(one)
      const { found, next } = notAgreed(one)
      cli.warn(`${found}; ${next}`)
    }
  return dir
}

const named = new Set<string>()

/** What to say of a space that was found and that nobody has agreed to. */
export const notAgreed = (dir: string) => ({
  found: `${dir} is not used: you have not agreed to it`,
  next: `to use it: mailbox trust ${shellWord(dir)}`,
})

/** Whether one in a database exists is known when it is opened. */
export const spaceExists = (dir: string): boolean =>
  existsSync(join(dir, 'journal')) || existsSync(join(dir, 'origin.json'))

/** The same with its settings, tokens and templates up to date, for verbs that look at those and not at the mail. */
export async function sharedDir(cli: Cli): Promise<string> {
  const dir = spaceDir(cli)
  await fetchShared(dir)
  return dir
}

export function existingSpaceDir(cli: Cli): string {
  const dir = spaceDir(cli)
  if (spaceExists(dir)) return dir
  throw new MailboxError('not_found', `there is no space in ${dir}`, {
    hint: 'use another one with --space DIR, or create it: mailbox join NAME',
  })
}

/** Opens the space. Creating one is always announced, because the path may be mistyped. */
export async function open(cli: Cli, { creates = false }: OpenOptions = {}): Promise<DiskSpace> {
  const ready = opened.get(cli)
  if (ready !== undefined) {
    opened.delete(cli)
    return ready
  }
  const dir = creates ? spaceDir(cli) : existingSpaceDir(cli)
  const isNew = !spaceExists(dir)
  const progress = createProgress(cli, 'building the index')
  try {
    const space = await openDisk({ dir, creates, onProgress: (seq) => progress.report(seq) })
    // Relative times are shown by the space's clock.
    cli.now = space.now()
    await decideActor(cli, space)
    rememberFirstHead(dir, space.id)
    const known = await space.unreadable()
    const { damaged } = space.core
    cli.unreadable = () => [
      ...known,
      ...[...damaged.values()].filter((line) => known.every(({ seq }) => seq !== line.seq)),
    ]
    if (space.core.endsNothing && space.clockWarning !== undefined) cli.warn(space.clockWarning)
    if (space.cutOffWarning !== undefined) cli.warn(space.cutOffWarning)
    else if (space.core.journal.isElsewhere) await (await import('../space/outbox.ts')).sendQueued(space)
    if (isNew) cli.hint(`Created a space in ${dir}`)
    return space
  } finally {
    progress.end()
  }
}

/**
 * Inside a client a command acts as the agent of that client. The person who works in such a terminal is asked before a
 * command acts as the person.
 */
async function decideActor(cli: Cli, { core }: DiskSpace): Promise<void> {
  const [own] = await clientAgents(core)
  if (own === undefined) return
  const asked = cli.globals.as ?? (process.env['MAILBOX_AGENT'] || undefined)
  if (asked === undefined) cli.actor = own
  else if (asked === person && isPersonThere()) core.actsForAll = await confirmPerson(cli, own)
}

const isPersonThere = (): boolean => process.stdin.isTTY && process.stderr.isTTY

async function confirmPerson(cli: Cli, own: string): Promise<boolean> {
  if (cli.json) return false
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({
    message: `This terminal belongs to ${toPrintableLine(own)}. Act as ${person}, the person?`,
    initialValue: false,
    output: process.stderr,
  })
  return !isCancel(answer) && answer
}

/** Spaces that were opened to see who acts, for the verb to go on with. */
const opened = new WeakMap<Cli, DiskSpace>()

/** Sets what a verb does that changes how a space works: inside a client that is up to the person. */
export function personAction<Words extends unknown[]>(
  command: Command,
  what: string,
  work: (cli: Cli, ...words: Words) => Promise<void> | void,
): void {
  action(command, async (cli, ...words: Words) => {
    const dir = spaceDir(cli)
    if (!spaceExists(dir)) return work(cli, ...words)
    await using space = await open(cli)
    await mustBePerson(space.core, what)
    opened.set(cli, space)
    await work(cli, ...words)
  })
}

/** The mailbox of the agent the verb acts as. An agent that has not joined gets an error that says how to. */
export async function openMailbox(cli: Cli, space: DiskSpace): Promise<Mailbox> {
  const mirror = await space.mirror()
  // One that is behind catches up with the next send.
  if (mirror?.state === 'away' || mirror?.state === 'ahead')
    cli.warn(`${mirror.problem}; to see what to do: ${cli.command('doctor')}`)
  return space.mailboxOfRun(cli.actor, { join: false })
}

/** Sets what a verb does in the mailbox of the agent it acts as. */
export function mailboxAction<Words extends unknown[]>(
  command: Command,
  work: (cli: Cli, mailbox: Mailbox, ...words: Words) => Promise<void>,
): void {
  action(command, async (cli, ...words: Words) => {
    await using space = await open(cli)
    await work(cli, await openMailbox(cli, space), ...words)
  })
}
