import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { sleepSync } from '../../base/timers.ts'
import { askOnce, findMailboxAtDesk } from '../../space/desk/mailbox-at-desk.ts'
import type { Mailbox } from '../../space/mailbox/api.ts'
import type { ChosenId } from '../../space/mailbox/looking.ts'
import { findPlace } from '../../space/place.ts'
import { type Cli, createCli } from '../cli.ts'
import type { Globals } from '../globals.ts'
import type { Stream } from '../output.ts'

/**
 * The short way of a command. Agents call a few verbs all the time, nearly always in their plainest form, and most of what
 * such a command cost was to load the program and its parser. So in that form it is read here, asked at the desk of the
 * space, and answered with the very functions of the verb. Whatever else there is in it, a terminal that reads along, a
 * refusal, a doubt: the whole program runs, and does it by itself. Nothing was printed until then.
 */
export interface Asked {
  /** The id of the message that the desk was asked to send. */
  chosen?: ChosenId | undefined
}

/** Resolves with true if it is done, with false if nothing was asked, or with what the desk was asked in vain. */
export async function runBriefly(words: readonly string[], verbs: BriefVerbs): Promise<boolean | Asked> {
  const read = readPlain(words, verbs)
  // Colours, hints, questions and a pager are for somebody who sits there.
  if (read === undefined || isatty(1) || isatty(2)) return false
  const { verb, globals, flags, rest } = read
  const dir = plainPlace(globals)
  if (dir === undefined) return false
  const name = globals.as ?? (process.env['MAILBOX_AGENT'] || undefined)
  const desk = verb === 'send' ? await findMailboxAtDesk(dir, name) : askOnce(dir, name)
  if (desk === undefined) return {}
  const printed: { fd: number; text: string }[] = []
  const stream = (fd: number): Stream => ({ write: (text) => printed.push({ fd, text }) })
  try {
    const cli = createCli(globals, verb, { stdout: stream(1), stderr: stream(2) })
    await verbs[verb]!.run(cli, desk.mailbox, flags, rest)
  } catch {
    desk.close()
    return { chosen: desk.chosen?.() }
  }
  for (const { fd, text } of printed) print(fd, text)
  return true
}

/** Words of a command line by their option: true for one that has none. */
type Flags = Readonly<Record<string, string | true>>

export interface BriefVerb {
  /** Its options: whether a word follows, and which. */
  options: Readonly<Record<string, true | RegExp>>
  /** Of these options it needs one. */
  needsOne?: readonly string[]
  /** How many words it takes, and what they look like. */
  words: { least: number; most: number; like: RegExp }
  run: (cli: Cli, mailbox: Mailbox, flags: Flags, words: readonly string[]) => Promise<void>
}

export type BriefVerbs = Readonly<Record<string, BriefVerb>>

export const any = /^[^-]/s

const globalOptions: BriefVerb['options'] = { as: any, space: any, json: true, quiet: true }

interface Plain {
  verb: string
  globals: Globals
  flags: Flags
  rest: readonly string[]
}

/** Reads a command line that has nothing but this; undefined for any other. */
function readPlain(words: readonly string[], verbs: BriefVerbs): Plain | undefined {
  const optionsOf = (name: string | undefined) =>
    name !== undefined && Object.hasOwn(verbs, name) ? verbs[name]!.options : undefined
  const given: Record<string, string | true> = {}
  const own: Record<string, string | true> = {}
  const rest: string[] = []
  let verb: string | undefined
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (!word.startsWith('-')) {
      if (verb === undefined) verb = word
      else rest.push(word)
      continue
    }
    const name = word.slice(2)
    const isGlobal = Object.hasOwn(globalOptions, name)
    const [known, into] = isGlobal ? [globalOptions, given] : [optionsOf(verb), own]
    if (!word.startsWith('--') || known === undefined || !Object.hasOwn(known, name) || name in into)
      return undefined
    const like = known[name]!
    const value = like === true ? true : words[++at]
    if (value === undefined || (like !== true && !like.test(value as string))) return undefined
    into[name] = value
  }
  const options = optionsOf(verb)
  if (verb === undefined || options === undefined) return undefined
  const {
    needsOne,
    words: { least, most, like },
  } = verbs[verb]!
  if (needsOne?.every((name) => own[name] === undefined)) return undefined
  if (rest.length < least || rest.length > most || !rest.every((word) => like.test(word))) return undefined
  return { verb, globals: { ...given, pager: false }, flags: own, rest }
}

/** The directory of the space, if there is nothing to say about where it is. */
function plainPlace({ space }: Globals): string | undefined {
  try {
    const place = findPlace({ given: space, env: process.env, cwd: process.cwd() })
    return place.kind === 'directory' && place.passedOver.length === 0 ? place.dir : undefined
  } catch {
    return undefined
  }
}

/** A stream of the process would leave it to the event loop, and takes longer to make than all of this. */
function print(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // The reader is slow, and the pipe does not block.
      if (code === 'EAGAIN') sleepSync(1)
      // If nobody reads it, that is no failure. What is said aside does not matter.
      else if (code === 'EPIPE' || fd === 2) return
      else {
        process.exitCode = 1
        return
      }
    }
  }
}
