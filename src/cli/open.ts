import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { GoDirect } from '../desk/wire.ts'
import { person } from '../model/agent.ts'
import type { Settings } from '../model/settings.ts'
import { toPrintableLine } from '../model/text.ts'
import type { OpenedSpace } from '../space/api.ts'
import { findMailboxAtDesk } from '../space/desk/mailbox-at-desk.ts'
import { tokenFor } from '../space/logins.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { ChosenId } from '../space/mailbox/looking.ts'
import { findPlace, type HubPlace, type Place } from '../space/place.ts'
import { readSettings } from '../space/settings.ts'
import type { DiskSpace } from '../space/space.ts'
import type { Asked } from './brief/brief.ts'
import { actAs, action, type Cli, shellWord } from './cli.ts'

export interface OpenOptions {
  /** Create the space if there is none. Only verbs that bring something into it do. @default false: an error */
  creates?: boolean
  /** Wait a little for a hub that does not answer. @default true */
  isPatient?: boolean
  /** If the process stays, it runs the bridges of the space while no other does. @default true */
  runsBridges?: boolean
  /** The agent that it is about: its token is used at a hub, if there is one. @default the one that acts */
  agent?: string | undefined
}

export const foundPlace = ({ globals }: Cli): Place =>
  findPlace({ given: globals.space, env: process.env, cwd: process.cwd() })

/**
 * The directory of the space, for a verb that needs its files. One that was found and passed over is named once: its
 * mail does not come here.
 */
export function spaceDir(cli: Cli): string {
  const place = foundPlace(cli)
  if (place.kind === 'hub') throw needsFiles(cli, place.url)
  const { dir, passedOver } = place
  for (const one of passedOver)
    if (!named.has(one)) {
      named.add(one)
      const { found, next } = notAgreed(one)
      cli.warn(`${found}; ${next}`)
    }
  return dir
}

const named = new Set<string>()

const needsFiles = ({ verb }: Cli, url: string): MailboxError =>
  new MailboxError('invalid', `mailbox ${verb} needs the files of the space; ${url} is a hub`, {
    hint: `run it on the machine of the hub: mailbox --space DIR ${verb}`,
  })

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
  const { fetchShared } = await import('../space/shared.ts')
  await fetchShared(dir)
  return dir
}

/** The settings in effect. For those of a directory no space has to be there. */
export async function settingsOf(cli: Cli): Promise<Settings> {
  if (foundPlace(cli).kind === 'directory') return readSettings(await sharedDir(cli))
  await using space = await open(cli)
  return space.settings
}

export function existingSpaceDir(cli: Cli): string {
  const dir = spaceDir(cli)
  if (spaceExists(dir)) return dir
  throw new MailboxError('not_found', `there is no space in ${dir}`, {
    hint: 'use another one with --space DIR, or create it: mailbox join NAME',
  })
}

/** Opens the space, wherever it is. */
export function open(cli: Cli, options: OpenOptions = {}): Promise<OpenedSpace> {
  const place = foundPlace(cli)
  return place.kind === 'hub' ? openAtHub(cli, place, options) : openFiles(cli, options)
}

/** How long a verb tries to reach a hub that may just be starting again. Waits and streams try for as long as they run. */
export const patienceMs = 5_000

/** Opens a space behind a hub. Whose token it is decides who acts; asking for somebody else is up to the hub. */
export async function openAtHub(cli: Cli, place: HubPlace, options: OpenOptions): Promise<OpenedSpace> {
  const { isPatient = true, agent } = options
  const asked = askedFor(cli)
  const { openRemote } = await import('../space/open.ts')
  const space = await openRemote({
    ...{ url: place.url, token: tokenFor(place, asked ?? agent, process.env) },
    retryForMs: isPatient ? patienceMs : 0,
  })
  cli.now = space.now()
  actAs(cli, asked ?? space.you)
  const unreadable = await space.unreadable()
  cli.unreadable = () => unreadable
  return space
}

/** Opens the space by its files. Creating one is always announced, because the path may be mistyped. */
export async function openFiles(cli: Cli, options: OpenOptions = {}): Promise<DiskSpace> {
  const { creates = false, runsBridges = true } = options
  const ready = opened.get(cli)
  if (ready !== undefined) {
    opened.delete(cli)
    return ready
  }
  const dir = creates ? spaceDir(cli) : existingSpaceDir(cli)
  const isNew = !spaceExists(dir)
  const { openDisk, rememberFirstHead, createProgress } = await whole()
  const progress = createProgress(cli, 'building the index')
  try {
    const space = await openDisk({ dir, creates, onProgress: (seq) => progress.report(seq) })
    const { desk } = space.core
    if (desk !== undefined && runsBridges)
      desk.meanwhile = async (signal) => (await import('./bridges.ts')).runBridges(cli.verb, space, signal)
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
  const { clientAgents } = await whole()
  const [own] = await clientAgents(core)
  if (own === undefined) return
  const asked = askedFor(cli)
  if (asked === undefined) actAs(cli, own)
  else if (asked === person && isPersonThere()) core.actsForAll = await confirmPerson(cli, own)
}

/** Who the command was told to act as. */
export const askedFor = ({ globals }: Cli): string | undefined =>
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

/** Spaces that were opened to see who acts, for the verb to go on with. */
const opened = new WeakMap<Cli, DiskSpace>()

/**
 * Sets what a verb does that changes how a space works: inside a client that is up to the person. At a hub, where a
 * verb has something to do there, its token decides.
 */
export function personAction<Words extends unknown[]>(
  command: Command,
  what: string,
  work: (cli: Cli, ...words: Words) => Promise<void> | void,
  atHub?: (cli: Cli, place: HubPlace, ...words: Words) => Promise<void>,
): void {
  action(command, async (cli, ...words: Words) => {
    const place = atHub === undefined ? undefined : foundPlace(cli)
    if (place?.kind === 'hub') return atHub!(cli, place, ...words)
    const dir = spaceDir(cli)
    if (!spaceExists(dir)) return work(cli, ...words)
    await using space = await openFiles(cli).catch((error: unknown) => {
      // One in a database that the verb may create.
      if (!(error instanceof MailboxError) || error.code !== 'not_found') throw error
      return undefined
    })
    if (space === undefined) return work(cli, ...words)
    const { mustBePerson } = await whole()
    await mustBePerson(space.core, what)
    opened.set(cli, space)
    await work(cli, ...words)
  })
}

/** Whether the space is one of this machine, with its files. */
export const isOnDisk = (space: OpenedSpace): space is DiskSpace => 'core' in space

/** The mailbox of the agent the verb acts as. An agent that has not joined gets an error that says how to. */
export async function openMailbox(cli: Cli, space: OpenedSpace, chosen?: ChosenId): Promise<Mailbox> {
  const mirror = isOnDisk(space) ? await space.mirror() : undefined
  // One that is behind catches up with the next send.
  if (mirror?.state === 'away' || mirror?.state === 'ahead')
    cli.warn(`${mirror.problem}; to see what to do: ${cli.command('doctor')}`)
  if (isOnDisk(space)) return space.mailboxOfRun(cli.actor, { join: false, chosen })
  return space.mailboxOfRun(cli.actor, { join: false })
}

/** The same for a look that nobody is present by, and that an agent need not have joined for. */
export async function peekMailbox(cli: Cli, space: OpenedSpace): Promise<Mailbox> {
  return isOnDisk(space) ? space.mailboxInside(cli.actor) : space.mailboxOfRun(cli.actor, { join: false })
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
  const mayAsk = askedBefore === undefined && foundPlace(cli).kind !== 'hub'
  const atDesk = mayAsk ? await findMailboxAtDesk(spaceDir(cli), askedFor(cli)) : undefined
  if (atDesk !== undefined) {
    actAs(cli, atDesk.mailbox.name)
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
  await work(await openMailbox(cli, space, atDesk?.chosen() ?? askedBefore?.chosen))
}

/** What came of asking the desk, if that was done before. */
let askedBefore: Asked | undefined

/** From now on this process does by itself what the desk did not do. */
export function leaveDesk(asked: Asked): void {
  askedBefore = asked
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
