import type { Command, Option } from 'commander'
import { say } from '../../agent/say.ts'
import { MailboxError } from '../../base/errors.ts'
import type { AnyAction, Conversation, Verb } from '../../conversation/conversation.ts'
import type { Field, Fields } from '../../conversation/field.ts'
import { action, type Cli } from '../cli.ts'
import { examples } from '../help.ts'
import { readText } from '../input.ts'
import { open, openMailbox } from '../open.ts'
import { collect, duration, given, priority } from '../options.ts'
import { answerSent } from './send.ts'

type Values = Record<string, unknown>

/** The verb of a conversation: a subcommand for each action that has one, or the one action that is the verb. */
export function talkVerb({ actions: declared }: Conversation, verb: Verb): (command: Command) => void {
  return (command) => {
    command.description(verb.description).addHelpText('after', examples(...verb.examples))
    const actions = declared?.() ?? {}
    const [first] = Object.values(actions)
    if (verb.choose !== undefined) {
      defineAction(command, verb.options ?? {}, (values) => {
        const { action: name, input } = verb.choose!(values)
        return { chosen: actions[name]!, input }
      })
    } else if (first?.command === undefined) {
      if (first !== undefined) defineAction(command, first.input, (input) => ({ chosen: first, input }))
    } else {
      command.helpCommand(false)
      for (const chosen of Object.values(actions)) {
        const summary = `${chosen.summary.charAt(0).toLowerCase()}${chosen.summary.slice(1)}`
        const sub = command.command(chosen.command!).summary(summary).description(`${chosen.summary}.`)
        defineAction(sub, chosen.input, (input) => ({ chosen, input }))
      }
    }
  }
}

/** Fields as arguments and options; what they were given goes to the action that is chosen by it. */
function defineAction(
  command: Command,
  fields: Fields,
  choose: (values: Values) => { chosen: AnyAction; input: Values },
): void {
  const flagged = Object.entries(fields).filter(([, { flag }]) => flag !== undefined)
  const isOption = ([, { flag }]: [string, Field]) => flag!.startsWith('--')
  const words = flagged.filter((one) => !isOption(one)).map(([name]) => name)
  const options = flagged
    .filter(isOption)
    .map(([name, field]) => ({ name, option: addOption(command, field) }))
  for (const name of words)
    command.argument(name === 'to' ? '[to]' : fields[name]!.flag!, fields[name]!.about)
  // A recipient may be given either way in every verb.
  if (words.includes('to')) command.option('--to <address>', 'the same as the argument')
  action(command, async (cli: Cli, ...typed: unknown[]) => {
    const flags = typed[words.length] as Values
    const values: Values = given({
      ...Object.fromEntries(words.map((name, at) => [name, typed[at]])),
      ...Object.fromEntries(options.map(({ name, option }) => [name, flags[option.attributeName()]])),
    })
    if (words.includes('to')) values['to'] = recipient(values['to'], flags['to'])
    for (const [name, { reads, readsInput }] of flagged) {
      if (readsInput && values[name] === '-') values[name] = await readText('-')
      if (reads !== undefined && values[name] !== undefined)
        values[name] = (values[name] as string[]).map(reads)
    }
    const { chosen, input } = choose(values)
    // What answers a message finds it in a space that is there.
    await using space = await open(cli, { creates: input['id'] === undefined })
    const sent = await say(await openMailbox(cli, space), chosen, input)
    answerSent(cli, sent)
    if (chosen.tip !== undefined)
      cli.tip(`${chosen.tip[0]}: ${cli.command(chosen.tip[1].replace('ID', sent.id))}`)
  })
}

function recipient(word: unknown, flag: unknown): unknown {
  if ((word === undefined) !== (flag === undefined)) return word ?? flag
  throw new MailboxError(
    'invalid',
    word === undefined ? 'there is no recipient' : 'there are two recipients',
    {
      hint: 'name one, as the first word or with --to',
    },
  )
}

function addOption(command: Command, { flag, about = '', kind, required = false }: Field): Option {
  const option = command.createOption(flag!, about).makeOptionMandatory(required)
  const parser = parsers[kind]
  if (parser !== undefined) option.argParser(parser as (text: string, before: unknown) => unknown)
  command.addOption(option)
  return option
}

const parsers: Partial<Record<Field['kind'], (text: string, before: string[]) => unknown>> = {
  texts: collect,
  records: collect,
  duration,
  priority,
  share(text) {
    const value = Number(text)
    if (text.trim() !== '' && value >= 0 && value <= 1) return value
    throw new MailboxError('invalid', `${JSON.stringify(text)} is not a share`, {
      hint: 'give a number from 0 to 1',
    })
  },
}
