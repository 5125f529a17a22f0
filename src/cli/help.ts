import type { Command, HelpConfiguration } from 'commander'

/** Names and summaries only: which options a verb takes is said by its own help. */
export const helpStyle: HelpConfiguration = {
  subcommandTerm: (command) => [command.name(), ...subcommandWords(command)].join(' '),
}

const subcommandWords = (command: Command): string[] =>
  command.parent?.parent ? command.registeredArguments.map((argument) => `<${argument.name()}>`) : []

export const quickStart = `
Quick start:
  $ mailbox join ada --role architect --tag project:inscription
  $ mailbox send role:architect --subject Plan --body "Where do we begin?" --priority urgent
  $ mailbox check --as ada
  $ mailbox reply ID --as ada --body "With the model."
  $ mailbox show ID

\`mailbox VERB --help\` tells what a verb takes, with examples.`

/** The last section of a verb's help. */
export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
