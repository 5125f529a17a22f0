import type { Command, Option } from 'commander'
import { knownTypes } from '../../conversation/registry.ts'
import { boxOfTag } from '../../model/address.ts'
import { priorities } from '../../model/message.ts'
import { settings } from '../../model/settings.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { OpenedSpace } from '../../space/api.ts'
import { type Cli, createCli } from '../cli.ts'
import { scripts } from '../completion-scripts.ts'
import { addGlobals, type Globals } from '../globals.ts'
import { open, openMailbox } from '../open.ts'
import { findVerb } from '../verbs.ts'

/** A possible completion and its description. */
type Candidate = readonly [value: string, about: string]

/** `mailbox complete -- WORDS` prints one candidate per line. It must never block a shell or show an error. */
export function complete(command: Command): void {
  command.argument('[words...]', 'the words up to the cursor, the last one unfinished')
  command.action(async (words: string[]) => {
    const typed = words.at(-1) ?? ''
    const candidates = await candidatesFor(command.parent!, words.slice(0, -1), typed)
    for (const [value, about] of candidates) {
      if (value.startsWith(typed)) process.stdout.write(`${value}\t${toPrintableLine(about)}\n`)
    }
  })
}

async function candidatesFor(
  program: Command,
  before: readonly string[],
  typed: string,
): Promise<Candidate[]> {
  const globals: Record<string, string> = {}
  const words: string[] = []
  let command = program
  let awaited: Option | undefined
  for (const word of before) {
    if (awaited !== undefined) {
      globals[awaited.attributeName()] = word
      awaited = undefined
    } else if (word.startsWith('--')) {
      const option = command.options.find(({ long }) => long === word)
      awaited = option?.required ? option : undefined
    } else {
      const next = command.commands.find((each) => each.name() === word)
      if (next === undefined) words.push(word)
      else command = await defined(next)
    }
  }
  if (awaited !== undefined) return valuesOf(awaited, globals)
  if (typed.startsWith('-')) return command.options.map(({ long, description }) => [long ?? '', description])
  if (command.commands.length > 0) {
    const visible = command.createHelp().visibleCommands(command)
    return visible.map((each) => [each.name(), each.summary()])
  }
  return wordsOf(command, words.length, globals)
}

async function defined(command: Command): Promise<Command> {
  const verb = await findVerb(command.name())
  if (verb === undefined || command.parent?.parent) return command
  const define = await verb.load()
  define(command)
  addGlobals(command)
  return command
}

async function valuesOf(option: Option, globals: Globals): Promise<Candidate[]> {
  switch (option.long) {
    case '--as':
    case '--from':
    case '--exclude':
      return fromSpace(globals, agentNames)
    case '--to':
      return fromSpace(globals, addresses)
    case '--role':
    case '--remove-role':
      return fromSpace(globals, async (space) => (await roleNames(space)).map((role) => [role, 'role']))
    case '--tag':
    case '--remove-tag':
      return fromSpace(globals, async (space) => (await tagNames(space)).map((tag) => [tag, 'tag']))
    case '--reply-to':
    case '--thread':
      return fromSpace(globals, messageIds)
    case '--type':
      return knownTypes.map((type) => [type, 'type'])
    case '--priority':
    case '--min-priority':
      return priorities.map((priority) => [priority, 'priority'])
    default:
      return []
  }
}

async function wordsOf(command: Command, place: number, globals: Globals): Promise<Candidate[]> {
  const kind = command.registeredArguments[Math.min(place, command.registeredArguments.length - 1)]?.name()
  if (kind === 'to') return fromSpace(globals, addresses)
  if (kind === 'id')
    return place === 0 || command.registeredArguments[0]?.variadic ? fromSpace(globals, messageIds) : []
  if (kind === 'name' && command.name() === 'leave') return fromSpace(globals, agentNames)
  if (kind === 'key') return Object.entries(settings).map(([key, { about }]) => [key, about])
  if (kind === 'shell') return Object.keys(scripts).map((shell) => [shell, 'shell'])
  return []
}

/** Asks an existing space only: pressing Tab must not create one. */
async function fromSpace(
  globals: Globals,
  ask: (space: OpenedSpace, cli: Cli) => Promise<Candidate[]>,
): Promise<Candidate[]> {
  const cli = createCli({ ...globals, quiet: true })
  try {
    await using space = await open(cli, { isPatient: false })
    return await ask(space, cli)
  } catch {
    return []
  }
}

const agentNames = async (space: OpenedSpace): Promise<Candidate[]> =>
  (await space.agents()).map(({ name, roles }) => [name, roles.join(', ') || 'agent'])

const roleNames = async (space: OpenedSpace) => [
  ...new Set((await space.agents()).flatMap(({ roles }) => roles)),
]
const tagNames = async (space: OpenedSpace) => [
  ...new Set((await space.agents()).flatMap(({ tags }) => tags)),
]

async function addresses(space: OpenedSpace): Promise<Candidate[]> {
  const roles = await roleNames(space)
  const tags = await tagNames(space)
  return [
    ...(await agentNames(space)),
    ...roles.map((role): Candidate => [`role:${role}`, 'one agent with this role']),
    ...tags.map((tag): Candidate => [boxOfTag(tag), 'every agent with this tag']),
    ['all', 'every agent'],
  ]
}

async function messageIds(space: OpenedSpace, cli: Cli): Promise<Candidate[]> {
  const mailbox = await openMailbox(cli, space)
  const { messages } = await mailbox.inbox({ limit: 20 })
  return messages.map(({ id, from, subject }) => [id, `${from}: ${subject}`])
}
