import { randomFillSync } from 'node:crypto'
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { type ProcessIdentity, processesAbove } from '../../base/process.ts'
import { helloWith } from '../../desk/hello.ts'
import { DeskLink } from '../../desk/link.ts'
import { findAddress } from '../../desk/place.ts'
import { GoDirect } from '../../desk/wire.ts'
import { originOf } from '../../journal/copy/origin.ts'
import { journalFormat } from '../../model/entry.ts'
import { createIdSource } from '../../model/id.ts'
import type { Mailbox } from '../mailbox/api.ts'
import type { ChosenId } from '../mailbox/looking.ts'
import { checkSpaceDir, configText } from '../settings.ts'
import { configDir } from '../trust.ts'

/** What sends a message, with an id that its sender chooses. */
export const sendingVerbs = ['send', 'reply', 'broadcast'] as const
export type SendingVerb = (typeof sendingVerbs)[number]

/**
 * The mailbox of the agent that a command acts as, at the desk of the space. A command lives for 50 ms: whoever asks
 * loads neither the journal nor the index. Its methods throw {@link GoDirect} where the desk does not answer or does
 * not do this: then the command opens the space and does it by itself.
 */
export interface MailboxAtDesk {
  mailbox: Mailbox
  /** The time of the space. */
  now: number
  /** The id of the message that the desk was asked to send, if it was. */
  chosen: () => ChosenId | undefined
  close: () => void
}

/** How many steps a command waits: together no longer than it may be held up. */
const steps = { first: 3, next: 2 }

/** Random bytes, without what Node loads for them: that takes 2 ms. */
function fillFromSystem(buffer: Buffer): void {
  try {
    const fd = openSync('/dev/urandom', 'r')
    try {
      if (readSync(fd, buffer) === buffer.length) return
    } finally {
      closeSync(fd)
    }
  } catch {
    // There is no such file on this system.
  }
  randomFillSync(buffer)
}

/** Undefined if there is no desk, or not for this command. `name`: who it was asked to act as. */
export async function findMailboxAtDesk(
  dir: string,
  name: string | undefined,
  above: readonly ProcessIdentity[] = processesAbove(),
): Promise<MailboxAtDesk | undefined> {
  const link = mayAct() ? linkTo(dir) : undefined
  if (link === undefined) return undefined
  const by = { name, pid: process.pid, above, at: Date.now() }
  const who = await link.ask<string>({ verb: 'who', by, args: [] }, steps.first).catch(() => undefined)
  const greeting = who && (await link.greeting)
  if (greeting === undefined) {
    link.close()
    return undefined
  }
  const { seq, now } = greeting.value
  let chosen: ChosenId | undefined
  const call = async (verb: string, args: readonly unknown[]): Promise<unknown> => {
    if (isSending(verb))
      chosen = { id: createIdSource(() => now, fillFromSystem)(), since: { directory: undefined, seq } }
    const id = isSending(verb) ? { id: chosen!.id, since: seq } : {}
    const reply = await link.ask({ verb, by: { ...by, name: who!.value }, ...id, args }, steps.next)
    if (reply === undefined) throw new GoDirect(`the desk does not ${verb}`)
    return reply.value
  }
  const known = { name: who!.value, now: () => now }
  const mailbox = new Proxy(known, {
    get: (target, key) =>
      key in target
        ? target[key as keyof typeof target]
        : (...args: readonly unknown[]) => call(String(key), args),
  })
  return { mailbox: mailbox as unknown as Mailbox, now, chosen: () => chosen, close: () => link.close() }
}

/** The same for a command that asks one thing only, which is not to send: it does not matter to it who acts. */
export function askOnce(
  dir: string,
  name: string | undefined,
): (Pick<MailboxAtDesk, 'mailbox' | 'close'> & { chosen?: undefined }) | undefined {
  const link = mayAct() ? linkTo(dir) : undefined
  if (link === undefined) return undefined
  const by = { name, pid: process.pid, above: processesAbove(), at: Date.now() }
  const call = async (verb: string, args: readonly unknown[]): Promise<unknown> => {
    const reply = await link.ask({ verb, by, args }, steps.first + steps.next)
    if (reply === undefined) throw new GoDirect(`the desk does not ${verb}`)
    return reply.value
  }
  const mailbox = new Proxy(
    {},
    {
      get:
        (_, key) =>
        (...args: readonly unknown[]) =>
          call(String(key), args),
    },
  )
  return { mailbox: mailbox as Mailbox, close: () => link.close() }
}

const isSending = (verb: string): boolean => (sendingVerbs as readonly string[]).includes(verb)

/** A secret lets a command act as somebody whom the processes above it do not name. */
const mayAct = (): boolean => process.env['MAILBOX_SECRET'] === undefined

/** A connection for a process that does not stay; undefined if there is no desk, or the process may not ask it. */
export function linkTo(dir: string): DeskLink | undefined {
  const { MAILBOX_CLOCK: clock, MAILBOX_DESK: desk } = process.env
  if (clock === 'wall' || desk === 'off') return undefined
  const address = findAddress(dir)
  if (address === undefined || !existsSync(address)) return undefined
  try {
    if (checkSpaceDir(dir) !== undefined) return undefined
    const origin = originOf(dir, process.env)?.shown
    const settings = { file: configText(dir) }
    return new DeskLink(dir, helloWith(configDir(process.env), journalFormat, settings, origin))
  } catch {
    // Opening the space says what is wrong.
    return undefined
  }
}
