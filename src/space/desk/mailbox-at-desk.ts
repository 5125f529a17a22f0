import { existsSync } from 'node:fs'
import { type ProcessIdentity, processesAbove } from '../../base/process.ts'
import { helloWith } from '../../desk/hello.ts'
import { DeskLink } from '../../desk/link.ts'
import { findAddress } from '../../desk/place.ts'
import { GoDirect } from '../../desk/wire.ts'
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

/** Undefined if there is no desk, or not for this command. `name`: who it was asked to act as. */
export async function findMailboxAtDesk(
  dir: string,
  name: string | undefined,
  above: readonly ProcessIdentity[] = processesAbove(),
): Promise<MailboxAtDesk | undefined> {
  if (!mayAsk(dir)) return undefined
  const link = new DeskLink(dir, helloWith(configDir(process.env), journalFormat, { file: configText(dir) }))
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
    if (isSending(verb)) chosen = { id: createIdSource(() => now)(), since: { directory: undefined, seq } }
    const id = isSending(verb) ? { id: chosen!.id } : {}
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

const isSending = (verb: string): boolean => (sendingVerbs as readonly string[]).includes(verb)

function mayAsk(dir: string): boolean {
  const { MAILBOX_CLOCK: clock, MAILBOX_DESK: desk, MAILBOX_SECRET: secret } = process.env
  // A secret lets a command act as somebody whom the processes above it do not name.
  if (clock === 'wall' || desk === 'off' || secret !== undefined) return false
  const address = findAddress(dir)
  if (address === undefined || !existsSync(address)) return false
  try {
    return checkSpaceDir(dir) === undefined
  } catch {
    // Opening the space says what is wrong.
    return false
  }
}
