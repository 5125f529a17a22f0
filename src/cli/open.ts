import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { GoDirect } from '../desk/wire.ts'
import { person } from '../model/agent.ts'
import { toPrintableLine } from '../model/text.ts'
import { findMailboxAtDesk } from '../space/desk/mailbox-at-desk.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { ChosenId } from '../space/mailbox/looking.ts'
import { findSpace } from '../space/settings.ts'
import type { DiskSpace } from '../space/space.ts'
import type { FoundSpace } from '../space/trust.ts'
import { action, type Cli, shellWord } from './cli.ts'

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

export const spaceExists = (dir: string): boolean => existsSync(join(dir, 'journal'))

export function existingSpaceDir(cli: Cli): string {
  const dir = spaceDir(cli)
  if (spaceExists(dir)) return dir
  throw new MailboxError('not_found', `there is no space in ${dir}`, {
    hint: 'use another one with --space DIR, or create it: mailbox join NAME',
  })
}

/** Opens the space. Creating one is always announced, because the path may be mistyped. */
export async function open(cli: Cli, { creates = false }: OpenOptions = {}): Promise<DiskSpace> {
  const dir = creates ? spaceDir(cli) : existingSpaceDir(cli)
  const isNew = !spaceExists(dir)
  const { openDisk, rememberFirstHead, createProgress } = await whole()
  const progress = createProgress(cli, 'building the index')
  try {
    const space = await openDisk({ dir, onProgress: (seq) => progress.report(seq) })
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
    if (space.core.endsNothing) cli.warn(space.clockWarning!)
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
  const { clientAgents } = await whole()
  const [own] = await clientAgents(core)
  if (own === undefined) return
  const asked = askedFor(cli)
  if (asked === undefined) cli.actor = own
  else if (asked === person && isPersonThere()) core.actsForAll = await confirmPerson(cli, own)
}

/** Who the command was told to act as. */
const askedFor = ({ globals }: Cli): string | undefined =>
  globals.as ?? (process.env['MAILBOX_AGENT'] || undefined)

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

/** Sets what a verb does that changes how a space works: inside a client that is up to the person. */
export function personAction<Words extends unknown[]>(
  command: Command,
  what: string,
  work: (cli: Cli, ...words: Words) => Promise<void> | void,
): void {
  action(command, async (cli, ...words: Words) => {
    const dir = spaceDir(cli)
    if (spaceExists(dir)) {
      const { openDisk, mustBePerson } = await whole()
      await using space = await openDisk({ dir })
      await decideActor(cli, space)
      await mustBePerson(space.core, what)
    }
    await work(cli, ...words)
  })
}

/** The mailbox of the agent the verb acts as. An agent that has not joined gets an error that says how to. */
export async function openMailbox(cli: Cli, space: DiskSpace, chosen?: ChosenId): Promise<Mailbox> {
  const mirror = await space.mirror()
  // One that is behind catches up with the next send.
  if (mirror?.state === 'away' || mirror?.state === 'ahead')
    cli.warn(`${mirror.problem}; to see what to do: ${cli.command('doctor')}`)
  return space.mailboxOfRun(cli.actor, { join: false, chosen })
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

/** The same for what a desk may do: see {@link withMailbox}. */
export function briefAction<Words extends unknown[]>(
  command: Command,
  work: (cli: Cli, mailbox: Mailbox, ...words: Words) => Promise<void>,
): void {
  action(command, (cli, ...words: Words) => withMailbox(cli, (mailbox) => work(cli, mailbox, ...words)))
}

/**
 * Does something in the mailbox of the agent that the command acts as: through the desk of the space, if there is one,
 * and otherwise by itself. In doubt `work` runs a second time, so it must say nothing before it is done.
 */
export async function withMailbox(
  cli: Cli,
  work: (mailbox: Mailbox) => Promise<void>,
  options: OpenOptions = {},
): Promise<void> {
  const atDesk = await findMailboxAtDesk(spaceDir(cli), askedFor(cli))
  if (atDesk !== undefined) {
    cli.actor = atDesk.mailbox.name
    cli.now = atDesk.now
    try {
      return await work(atDesk.mailbox)
    } catch (error) {
      if (!(error instanceof GoDirect)) throw error
    } finally {
      atDesk.close()
    }
  }
  await using space = await open(cli, options)
  await work(await openMailbox(cli, space, atDesk?.chosen()))
}

/** What opens a space takes longer to load than most commands run, and those that ask a desk do without. */
async function whole() {
  const [{ openDisk }, { clientAgents, mustBePerson }, { rememberFirstHead }, { createProgress }] =
    await Promise.all([
      import('../space/open.ts'),
      import('../space/acting.ts'),
      import('../space/head.ts'),
      import('./progress.ts'),
    ])
  return { openDisk, clientAgents, mustBePerson, rememberFirstHead, createProgress }
}
