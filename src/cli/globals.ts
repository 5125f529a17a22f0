import { type Command, Option } from 'commander'

/** Options of every verb, accepted before or after its name. */
export interface Globals {
  /** The space's directory, as typed. */
  space?: string
  /** The agent to act as. */
  as?: string
  json?: boolean
  quiet?: boolean
  /** A filter for the JSON that is printed. */
  jq?: string
}

const heading = 'Global options:'

export function addGlobals(command: Command): void {
  const global = (flags: string, about: string) => new Option(flags, about).helpGroup(heading)
  command
    .addOption(
      global(
        '--space <dir>',
        'the space to use (default: MAILBOX_SPACE, the nearest .mailbox in a parent directory that you have agreed to, or ~/.mailbox)',
      ),
    )
    .addOption(
      global(
        '--as <agent>',
        'the agent to act as (default: MAILBOX_AGENT, or "user", the person; inside a client, its agent)',
      ),
    )
    .addOption(global('--json', 'print a JSON object (streams: one per line)'))
    .addOption(global('--jq <filter>', 'print what a jq filter selects from the JSON; needs the program jq'))
    .addOption(global('--quiet', 'hide confirmations, hints and progress'))
    .addHelpOption(global('-h, --help', 'show this help'))
  for (const sub of command.commands) if (command.parent !== null) addGlobals(sub)
}

/** The global options in effect for a verb; the last one given wins. */
export function readGlobals(command: Command): Globals {
  const chain: Command[] = []
  for (let at: Command | null = command; at !== null; at = at.parent) chain.unshift(at)
  return Object.assign({}, ...chain.map((each) => each.opts())) as Globals
}
