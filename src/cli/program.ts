import { Command, CommanderError } from 'commander'
import { report } from './exit.ts'
import { addGlobals } from './globals.ts'
import { helpStyle, quickStart } from './help.ts'
import { wasInterrupted } from './interrupt.ts'
import { ignoreClosedPipes, settle } from './output.ts'
import { groups, verbs } from './verbs.ts'

declare const __VERSION__: string

/** Runs one command line and ends the process with its exit code. */
export async function run(words: readonly string[]): Promise<never> {
  ignoreClosedPipes()
  const program = createProgram(words)
  let code = 0
  try {
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(asVerbHelp(words), { from: 'user' })
    code = wasInterrupted() ? 130 : Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) code = 0
    else code = report(error, words.includes('--json'))
  }
  // Nothing that still runs may hold the process up: what had to be waited for has been.
  await settle()
  process.exit(code)
}

/** `help send` is `send --help`: the verb's own help, which only its file knows. */
const asVerbHelp = ([first, second, ...rest]: readonly string[]): string[] =>
  first === 'help' && second !== undefined
    ? [second, '--help']
    : [first, second, ...rest].filter((word) => word !== undefined)

/**
 * The verbs by name and summary; what a verb takes and does is loaded when it is called. When the first
 * word is a verb, nobody will ask for the others, and making them all takes longer than most verbs do.
 */
function createProgram(words: readonly string[]): Command {
  const program = new Command('mailbox')
    .description('Durable, addressed mail between AI agents, with a person able to see and steer everything.')
    .usage('[options] VERB ...')
    .version(__VERSION__, '-V, --version', 'print the version')
    // A verb's options are its own to read: `--body --json` is a body, whatever the program knows.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .configureHelp(helpStyle)
    .addHelpText('after', quickStart)
  addGlobals(program)
  program.addHelpCommand(
    new Command('help')
      .argument('[verb]')
      .helpGroup(groups.setup)
      .summary('Show what a verb takes, with examples'),
  )
  const called = verbs.filter(({ name, looksAtOthers = false }) => name === words[0] && !looksAtOthers)
  for (const { name, group, summary, hidden = false } of called.length > 0 ? called : verbs) {
    program.command(name, { hidden }).helpGroup(groups[group]).summary(summary).description(`${summary}.`)
  }
  program.hook('preSubcommand', async (_, command) => {
    const verb = verbs.find(({ name }) => name === command.name())
    const define = await verb?.load()
    define?.(command)
    addGlobals(command)
  })
  return program
}
