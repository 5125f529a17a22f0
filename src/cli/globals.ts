import { type Command, Option } from 'commander'

/** Options of every verb, accepted before or after its name. */
export interface Globals {
  /** The space's directory, address or name, as typed. */
  space?: string
  /** The agent to act as. */
  as?: string
  json?: boolean
  quiet?: boolean
  /** A filter for the JSON that is printed. */
  jq?: string
  /** `false`: long output is not shown in a pager. */
  pager?: boolean
}

const heading = 'Global options:'

export function addGlobals(command: Command): void {
  const global = (flags: string, about: string) => new Option(flags, about).helpGroup(heading)
  command
    .addOption(
      global(
        '--space <place>',
        'the space to use: a directory, the address of a hub or the name of a login (default: MAILBOX_SPACE, the nearest .mailbox in a parent directory that you have agreed to, or ~/.mailbox)',
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
    .addOption(
      global(
        '--no-pager',
        'print long output as it is (otherwise on a terminal: MAILBOX_PAGER, PAGER, or less)',
      ),
    )
    .addHelpOption(global('-h, --help', 'show this help'))
  for (const sub of command.commands) if (command.parent !== null) addGlobals(sub)
}

/** The options of a verb itself: global ones may stand among them. */
export function withoutGlobals(options: Globals): object {
  const { space: _space, as: _as, json: _json, quiet: _quiet, jq: _jq, pager: _pager, ...own } = options
  return own
}

/** The global options in effect for a verb; the last one given wins. */
export function readGlobals(command: Command): Globals {
  const chain: Command[] = []
  for (let at: Command | null = command; at !== null; at = at.parent) chain.unshift(at)
  const given = chain.map((each) => each.opts<Globals>())
  return { ...Object.assign({}, ...given), pager: given.every(({ pager }) => pager !== false) } as Globals
}
