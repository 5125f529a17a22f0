import { Command, CommanderError } from 'commander'
import type { Asked } from './brief/brief.ts'
import { report } from './exit.ts'
import { addGlobals } from './globals.ts'
import { readHandles } from './handles.ts'
import { helpStyle, quickStart } from './help.ts'
import { interruptCode } from './interrupt.ts'
import { leaveDesk } from './open.ts'
import { ignoreClosedPipes, settle } from './output.ts'
import { page } from './pager.ts'
import { refuseRepeats } from './repeats.ts'
import { withSuggestion } from './suggest.ts'
import { allVerbs, findVerb, type Verb } from './verbs.ts'

declare const __VERSION__: string

/**
 * Runs one command line and ends the process with its exit code. `onVerb` is told which verb it is. `asked`: what came
 * of asking a desk before (brief/brief.ts).
 */
export async function run(
  words: readonly string[],
  onVerb: (name: string) => void = () => {},
  asked?: Asked,
): Promise<never> {
  ignoreClosedPipes()
  if (asked !== undefined) leaveDesk(asked)
  const program = await createProgram(words)
  program.hook('preSubcommand', (_, command) => onVerb(command.name()))
  let code = 0
  try {
    if (words.length === 0) page(`${await (await import('./home.ts')).home()}\n`)
    else await program.parseAsync(asVerbHelp(words), { from: 'user' })
    code = interruptCode() ?? Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) code = 0
    else code = report(withSuggestion(error, program, words), words.includes('--json'))
  }
  // Exit explicitly so that a leftover timer or handle cannot keep the process alive.
  await settle()
  process.exit(code)
}

/** `help send` becomes `send --help`, because only the verb's own file knows its help. */
const asVerbHelp = ([first, second, ...rest]: readonly string[]): string[] =>
  first === 'help' && second !== undefined
    ? [second, '--help']
    : [first, second, ...rest].filter((word) => word !== undefined)

/**
 * Registers the verbs by name and summary; a verb's options and code are loaded when it is called. When the
 * first word is a verb, only that one is registered: registering all of them takes longer than most verbs run.
 */
async function createProgram(words: readonly string[]): Promise<Command> {
  const program = new Command('mailbox')
    .description('Durable, addressed mail for AI agents. A person can see and steer everything.')
    .usage('[options] <verb> [arguments]')
    .version(__VERSION__, '-V, --version', 'print the version')
    // Each verb parses its own options: in `--body --json`, the body is `--json`.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => {}, writeOut: page })
    .configureHelp(helpStyle)
    .addHelpText('after', quickStart)
  addGlobals(program)
  refuseRepeats(program)
  // Asking for the help of a verb that does not exist is a mistake like calling it.
  program.on('beforeAllHelp', ({ command }: { command: Command }) => refuseUnknownVerb(command))
  program.addHelpCommand(
    new Command('help')
      .argument('[verb]')
      .helpGroup('Set up:')
      .summary('Show the options and examples of a verb'),
  )
  for (const { name, heading, summary, hidden = false } of await verbsFor(words[0])) {
    program.command(name, { hidden }).helpGroup(heading).summary(summary).description(`${summary}.`)
  }
  program.hook('preAction', (_, command) => readHandles(command))
  program.hook('preSubcommand', async (_, command) => {
    const verb = await findVerb(command.name())
    const define = await verb?.load()
    define?.(command)
    addGlobals(command)
    refuseRepeats(command)
  })
  return program
}

function refuseUnknownVerb(command: Command): void {
  const [first = '-'] = command.args
  const isVerb =
    first.startsWith('-') || first === 'help' || command.commands.some((one) => one.name() === first)
  // Commander has it, with the suggestion, but not in its types.
  if (command.commands.length > 0 && !isVerb)
    (command as Command & { unknownCommand(): void }).unknownCommand()
}

async function verbsFor(first: string | undefined): Promise<readonly Verb[]> {
  const called = first?.startsWith('-') ? undefined : await findVerb(first)
  return called === undefined || called.needsOtherVerbs ? allVerbs() : [called]
}
