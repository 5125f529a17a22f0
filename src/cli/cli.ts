import { basename, relative } from 'node:path'
import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { quoteForShell } from '../base/shell.ts'
import { newNonce } from '../conversation/nonce.ts'
import { person } from '../model/agent.ts'
import { toPrintableLine, toSafeJson } from '../model/text.ts'
import { type UnreadableLine, unreadableHint, unreadableText } from '../model/unreadable.ts'
import { type Globals, readGlobals, withoutGlobals } from './globals.ts'
import { filterJson } from './jq.ts'
import { type Colors, colorsFor, type Stream, widthOf } from './output.ts'
import { page } from './pager.ts'

/** What every verb works with: the global options, and how to write to the caller. */
export interface Cli {
  globals: Globals
  json: boolean
  quiet: boolean
  /** The words that the verb is called by. */
  verb: string
  /** The agent the verb acts as. */
  actor: string
  /**
   * Whether the words of senders are marked, for a reader that could take them for ours: an agent, or whoever reads the
   * output of a program. A person at a terminal needs no marks.
   */
  isMarked: boolean
  /** What the marks hold. */
  readonly nonce: string | undefined
  /** For standard output. */
  colors: Colors
  width: number
  now: number
  /** The records of the space that could not be read; an answer is given without them, and says so. */
  unreadable: () => readonly UnreadableLine[]
  /** Prints the result: one JSON object for programs, text for people. */
  answer(json: object, text: () => string): void
  /** The same for a result that only confirms what was done: `--quiet` suppresses the text. */
  confirm(json: object, text: () => string): void
  /** On standard error: hints and warnings are never part of the result. */
  hint(text: string): void
  warn(text: string): void
  /** Suggests a next step, only to a person at a terminal: agents pay for every line they read. */
  tip(text: string): void
  /** A mailbox command line for the same space and agent, ready to copy. */
  command(words: string): string
}

/** Sets what a verb does. */
export function action<Words extends unknown[]>(
  command: Command,
  work: (cli: Cli, ...words: Words) => Promise<void> | void,
): void {
  command.action((...words: unknown[]) => {
    // After the arguments come the options, and the command.
    const own = words.with(-2, withoutGlobals(words.at(-2) as object))
    return work(createCli(readGlobals(command), verbOf(command)), ...(own as Words))
  })
}

/** `config set`, without the name of the program. */
const verbOf = (command: Command): string =>
  command.parent?.parent ? `${verbOf(command.parent)} ${command.name()}` : command.name()

export function createCli(globals: Globals, verb = '', { stdout, stderr }: Streams = process): Cli {
  const { quiet = false, jq } = globals
  const json = globals.json === true || jq !== undefined
  const colors = colorsFor(stdout)
  const aside = colorsFor(stderr)
  const talk = (text: string) => quiet || stderr.write(`${text}\n`)
  const print = (text: string) => stdout.write(jq === undefined ? `${text}\n` : filterJson(text, jq))
  const show = (text: string) => (globals.pager === false ? print(text) : page(`${text}\n`))
  const warn = (text: string) => void talk(`${aside.yellow('warning:')} ${toPrintableLine(text)}`)
  let nonce: string | undefined
  const actor = globals.as ?? (process.env['MAILBOX_AGENT'] || person)
  const cli: Cli = {
    globals,
    json,
    quiet,
    verb,
    actor,
    isMarked: false,
    get nonce() {
      if (cli.isMarked) nonce ??= newNonce()
      return nonce
    },
    colors,
    width: widthOf(stdout),
    now: Date.now(),
    unreadable: () => [],
    answer(object, text) {
      const unreadable = cli.unreadable()
      if (json) print(toSafeJson(unreadable.length === 0 ? object : { ...object, unreadable }))
      else show(text())
      if (unreadable.length > 0) warn(`${unreadableText(unreadable)}; ${unreadableHint}`)
    },
    confirm: (object, text) => void (json ? print(toSafeJson(object)) : quiet || print(text())),
    hint: (text) => void talk(aside.dim(text)),
    tip: (text) => void (json || !stderr.isTTY || talk(aside.dim(text))),
    warn,
    command: (words) => [programName(), ...given(globals), words].join(' '),
  }
  actAs(cli, actor, stdout)
  return cli
}

/** The streams of the process, or what stands for them. */
interface Streams {
  stdout: Stream
  stderr: Stream
}

/** Says who acts, once that is known. */
export function actAs(cli: Cli, name: string, stdout: Stream = process.stdout): void {
  cli.actor = name
  if (name !== person || !stdout.isTTY) cli.isMarked = true
}

/** For verbs that have another option for who sends: `--from` is `--as`. */
export function actingAs(cli: Cli, from: string | undefined): Cli {
  const { as } = cli.globals
  if (from === undefined || from === as) return cli
  if (as === undefined) return createCli({ ...cli.globals, as: from }, cli.verb)
  throw new MailboxError('invalid', `--as ${as} and --from ${from} name two senders`, {
    hint: 'give one of them',
  })
}

const given = ({ space, as }: Globals): string[] => [
  ...(space === undefined ? [] : ['--space', shellWord(space)]),
  ...(as === undefined ? [] : ['--as', shellWord(as)]),
]

/** A word that is safe to print on a terminal and to paste into a shell. */
export const shellWord = (word: string): string => quoteForShell(toPrintableLine(word))

/** How this program was started, so that suggested commands work: from a checkout nothing is on the PATH. */
function programName(): string {
  const script = process.argv[1] ?? ''
  const checkout = basename(script) === 'cli.cjs' && !script.includes('node_modules')
  return checkout ? `node ${shellWord(relative(process.cwd(), script))}` : 'mailbox'
}
