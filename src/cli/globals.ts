import { type Command, Option } from 'commander'

/** Options that every verb takes, before or behind its name. */
export interface Globals {
  /** The space's directory as it was written. */
  space?: string
  /** Whom to act as. */
  as?: string
  json?: boolean
  quiet?: boolean
}

const heading = 'Global options:'

export function addGlobals(command: Command): void {
  const global = (flags: string, about: string) => new Option(flags, about).helpGroup(heading)
  command
    .addOption(
      global(
        '--space <dir>',
        'the space to use (MAILBOX_SPACE; else the nearest .mailbox upward, else ~/.mailbox)',
      ),
    )
    .addOption(global('--as <agent>', 'whom to act as (MAILBOX_AGENT; else user, the person)'))
    .addOption(global('--json', 'print one JSON object (streams: one a line)'))
    .addOption(global('--quiet', 'no confirmations, hints or progress'))
    .addHelpOption(global('-h, --help', 'show this help'))
  for (const sub of command.commands) if (command.parent !== null) addGlobals(sub)
}

/** The options in force for a verb; the one written last wins. */
export function readGlobals(command: Command): Globals {
  const chain: Command[] = []
  for (let at: Command | null = command; at !== null; at = at.parent) chain.unshift(at)
  return Object.assign({}, ...chain.map((each) => each.opts())) as Globals
}
