import type { Command, HelpConfiguration } from 'commander'

/** The list of verbs shows names and summaries only; `mailbox VERB --help` shows arguments and options. */
export const helpStyle: HelpConfiguration = {
  subcommandTerm: (command) => [command.name(), ...subcommandWords(command)].join(' '),
}

const subcommandWords = (command: Command): string[] =>
  command.parent?.parent ? command.registeredArguments.map((argument) => `<${argument.name()}>`) : []

export const quickStart = `
Quick start:
  $ mailbox join ada --role architect --tag project:inscription
  $ mailbox send role:architect --subject Plan --body "Where do we start?" --priority urgent
  $ mailbox check --as ada
  $ mailbox reply ID --as ada --body "With the model."
  $ mailbox show ID

Use \`mailbox <verb> --help\` for options and examples.`

/** The last section of a verb's help. */
export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
