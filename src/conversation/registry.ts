import { ci } from './ci.ts'
import type { AnyAction, Conversation, MatterKind, MessageType, Step } from './conversation.ts'
import { escalation } from './escalation.ts'
import type { Fields } from './field.ts'
import { handoff } from './handoff.ts'
import { help } from './help.ts'
import { plain } from './plain.ts'
import { plan } from './plan.ts'
import { review } from './review.ts'
import { shutdown } from './shutdown.ts'
import { status } from './status.ts'
import { task } from './task.ts'

/**
 * Every conversation. Whoever needs to know something about a type of message asks here; a new conversation is
 * its file and its line in this list.
 */
const declared = [
  // In the order of the help and of the console's list of types.
  plain,
  handoff,
  escalation,
  plan,
  shutdown,
  status,
  help,
  task,
  ci,
  review,
] as const
export const conversations: readonly Conversation[] = declared

type Declared = (typeof declared)[number]
type Typed<M> = { [Name in keyof M]: M[Name] extends { payload: object } ? Name : never }[keyof M]
/** Types whose payload is declared. */
export type TypedName = Declared extends infer C
  ? C extends { messages: infer M }
    ? Typed<M>
    : never
  : never

type MatterOf = Declared extends infer C ? (C extends { matter: infer M } ? M : never) : never
type StepsOf = MatterOf extends infer M ? (M extends { steps: infer S } ? S[keyof S] : never) : never
/** Kinds of matters: a question of any message, what conversations declare, and the wish for an ack. */
export type Kind = MatterOf['kind'] | 'ack'
/**
 * `void`: the message was withdrawn or is a dead letter, so nobody owes anything any more. `closed`: its recipient is
 * done with it and gave no answer. `reassigned`: it failed, and the same task was given again.
 */
export type MatterState = 'open' | Extract<StepsOf, { to: string }>['to'] | (typeof otherStates)[number]
const otherStates = ['acked', 'closed', 'reassigned', 'void'] as const

/** A step of a matter, with its name. */
export interface TakenStep extends Step {
  kind: Kind
  name: string
}

type KnownType = MessageType & { conversation: Conversation }
const types = new Map<string, KnownType>()
const matters = new Map<string, MatterKind>()
const steps = new Map<string, TakenStep>()
for (const conversation of conversations) {
  for (const [name, type] of Object.entries(conversation.messages)) types.set(name, { ...type, conversation })
  const { matter } = conversation
  if (matter === undefined) continue
  matters.set(matter.kind, matter)
  for (const [name, step] of Object.entries(matter.steps))
    steps.set(`${matter.kind} ${name}`, { ...step, name, kind: matter.kind as Kind })
}

/** `type` is an open string; these are the ones that have a meaning. */
export const knownTypes: readonly string[] = [...types.keys()]
export const typeOf = (name: string): KnownType | undefined => types.get(name)
export const matterOf = (kind: string): MatterKind | undefined => matters.get(kind)
/** Whether a matter is settled by doing something, not by saying something. */
export const isWork = (kind: string): boolean => matterOf(kind)?.handled !== undefined

export const findStep = (kind: string, name: string): TakenStep | undefined => steps.get(`${kind} ${name}`)

export const kinds = [...matters.keys(), 'ack'] as unknown as readonly [Kind, ...Kind[]]
const allSteps = [...steps.values()]
export const matterStates = [...new Set(['open', ...allSteps.map(({ to }) => to), ...otherStates])] as [
  MatterState,
  ...MatterState[],
]

const openStates = new Set(['open', ...allSteps.filter(({ staysOpen }) => staysOpen).map(({ to }) => to)])
export const isOpenMatter = (state: string): boolean => openStates.has(state)

/** `help_request` as people write it. */
export const labelOf = (type: string): string => types.get(type)?.label ?? type.replaceAll('_', ' ')

export interface NamedAction extends AnyAction {
  name: string
  conversation: Conversation
}

let known: readonly NamedAction[] | undefined

/** Every action of every conversation. */
export function allActions(): readonly NamedAction[] {
  known ??= conversations.flatMap((conversation) =>
    Object.entries(conversation.actions?.() ?? {}).map(([name, one]) => ({ ...one, name, conversation })),
  )
  return known
}

/** The actions that answer messages of a type. */
export const actionsFor = (type: string): NamedAction[] =>
  allActions().filter((action) => types.get(action.type)?.answers === type)

/** The type of a reply in plain words to a message of a type: its own, where that needs nothing but words. */
export const replyTypeFor = (type: string): string | undefined =>
  knownTypes.find((name) => {
    const { answers, payload = {} } = types.get(name)!
    return answers === type && !Object.values(payload).some(({ required }) => required)
  })

/** What a message is in the list of what needs somebody, with words for it. */
export const needs: ReadonlyMap<string, string> = new Map([
  ...[...types.values()].flatMap(({ need }) =>
    need === undefined ? [] : [[need.kind, need.label] as const],
  ),
  ...([
    ['question', 'question'],
    ['ack', 'needs an ack'],
    ['mail', 'mail'],
    ['notice', 'notice'],
  ] as const),
])

/** The commands that answer a message, ready to copy. */
export function waysToAnswer(type: string, id: string): string[] {
  const ways = types.get(type)?.answerWith ?? actionsFor(type).map(toCommand)
  return ways.map((way) => way.replace('ID', id))
}

/** `mailbox plan reject ID --feedback F` */
function toCommand({ conversation, command, input }: NamedAction): string {
  const verb = conversation.verb?.()
  const words = Object.entries(input as Fields).flatMap(([name, field]) => {
    const { flag = '' } = verb?.options?.[name] ?? field
    if (!field.required) return []
    const value = name === 'id' ? 'ID' : flag.charAt(2).toUpperCase()
    return flag.startsWith('--') ? [flag.split(' ')[0]!, value] : [value]
  })
  return ['mailbox', verb?.name, command, ...words].filter((word) => word !== undefined).join(' ')
}
