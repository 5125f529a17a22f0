import { basename, relative } from 'node:path'
import type { Command } from 'commander'
import { quoteForShell } from '../base/shell.ts'
import { person } from '../model/agent.ts'
import { toPrintableLine } from '../model/text.ts'
import { type Globals, readGlobals } from './globals.ts'
import { type Colors, colorsFor, widthOf } from './output.ts'

/** What every verb works with: the global options, and how to talk to whoever called. */
export interface Cli {
  globals: Globals
  json: boolean
  quiet: boolean
  /** Whom the verb acts as. */
  actor: string
  /** For standard output. */
  colors: Colors
  width: number
  now: number
  /** The answer: one JSON object for programs, text for people. */
  answer(json: object, text: () => string): void
  /** The same for an answer that only says what was done: people who want quiet do not get it. */
  confirm(json: object, text: () => string): void
  /** On standard error. Hints and warnings are for whoever watches, never part of the answer. */
  hint(text: string): void
  warn(text: string): void
  /** What to try next, for a person at a terminal; agents pay for every line they read. */
  tip(text: string): void
  /** A command line of ours that acts on the same space as the same agent, ready to copy. */
  command(words: string): string
}

/** Gives a verb its work. */
export function action<Words extends unknown[]>(
  command: Command,
  work: (cli: Cli, ...words: Words) => Promise<void> | void,
): void {
  command.action((...words: unknown[]) => work(createCli(readGlobals(command)), ...(words as Words)))
}

export function createCli(globals: Globals): Cli {
  const { json = false, quiet = false } = globals
  const colors = colorsFor(process.stdout)
  const aside = colorsFor(process.stderr)
  const talk = (text: string) => quiet || process.stderr.write(`${text}\n`)
  const print = (text: string) => process.stdout.write(`${text}\n`)
  return {
    globals,
    json,
    quiet,
    actor: globals.as ?? (process.env['MAILBOX_AGENT'] || person),
    colors,
    width: widthOf(process.stdout),
    now: Date.now(),
    answer: (object, text) => void print(json ? JSON.stringify(object) : text()),
    confirm: (object, text) => void (json ? print(JSON.stringify(object)) : quiet || print(text())),
    hint: (text) => void talk(aside.dim(text)),
    tip: (text) => void (json || !process.stderr.isTTY || talk(aside.dim(text))),
    warn: (text) => void talk(`${aside.yellow('warning:')} ${toPrintableLine(text)}`),
    command: (words) => [programName(), ...given(globals), words].join(' '),
  }
}

const given = ({ space, as }: Globals): string[] => [
  ...(space === undefined ? [] : ['--space', shellWord(space)]),
  ...(as === undefined ? [] : ['--as', shellWord(as)]),
]

/** A word to be shown on a terminal and typed into a shell. */
export const shellWord = (word: string): string => quoteForShell(toPrintableLine(word))

/** How we were started, so that what we tell people to type works: from a checkout nothing is on the PATH. */
function programName(): string {
  const script = process.argv[1] ?? ''
  const checkout = basename(script) === 'cli.cjs' && !script.includes('node_modules')
  return checkout ? `node ${shellWord(relative(process.cwd(), script))}` : 'mailbox'
}
