import type { Message, PriorityInput } from '../model/message.ts'
import type { Fields, InputOf } from './field.ts'

/**
 * A conversation is everything about one kind of exchange in one declaration: its messages, what they leave
 * open, who settles that and how, and the actions that say it. The command line, HTTP, MCP, hooks, terminals
 * and the console take their words from it through the registry; none has a table of its own.
 */
export interface Conversation {
  /** Its name in sentences: `plan`. */
  name: string
  messages: Readonly<Record<string, MessageType>>
  /** What a message can leave open between its sender and a recipient. */
  matter?: MatterKind
  /**
   * By the name of the library's function; over HTTP `submitPlan` is `submit-plan`. A function, as the verb is,
   * because a hook lives 50 ms and needs none of them.
   */
  actions?: () => Readonly<Record<string, AnyAction>>
  /** Its verb on the command line. */
  verb?: () => Verb
}

export interface MessageType {
  /** What other systems call it. Other spellings of its own name need not be listed: `ShutdownRequest` is known. */
  aka?: readonly string[]
  /** @default the type with spaces for underscores */
  label?: string
  /** What it is, for whoever reads it anywhere: one sentence that is true for every reader. */
  sentence?: string
  /** What its payload may hold. Other fields are kept as they are. */
  payload?: Fields
  /** Its subject, where the sender gave none. */
  title?: (payload: Record<string, unknown>) => string | undefined
  /** Its text, where the sender wrote none: what its payload or context says, in words. */
  says?: (message: Spoken) => string | undefined
  /** The kind of matter that it opens with each recipient. */
  opens?: string
  /** The type that it answers. */
  answers?: string
  /** The step that it takes as a reply, in the matter of its own conversation. @default an answer to a question */
  takes?: (payload: Record<string, unknown>) => string
  /** What it says of another matter, which it names by its key. */
  reports?: (payload: Record<string, unknown>) => Report | undefined
  /** Whether, as a reply, it says that what was asked for is over, one way or another. */
  ends?: (payload: Record<string, unknown>) => boolean
  /** As a reply, or as one with this payload, it settles nothing: whoever asked still waits. */
  settlesNothing?: true | ((payload: Record<string, unknown>) => boolean)
  /** It asks for something, though nobody keeps track of whether it is done. */
  asks?: true
  /** It is about one run of an agent and must not reach the next. */
  isBound?: true
  /** An agent at work sees to it at once. */
  interrupts?: true
  /** In a terminal it is typed before all other mail, without waiting for the program to be idle. */
  isEmergency?: true
  /** What it is in the list of what needs the person. @default by what it opens */
  need?: { kind: string; label: string }
  /** Commands that answer it, with ID for its id, where they are not its own actions. */
  answerWith?: readonly string[]
  /** The console offers it for new mail. */
  isComposed?: true
}

/** What of a message can be put into words. */
export type Spoken = Pick<Message, 'from' | 'to' | 'payload' | 'context'>

export interface Report {
  kind: string
  key: string
  step: string
}

export interface MatterKind {
  kind: string
  /** What may happen to it. A step from a state that it does not start from is refused. */
  steps: Readonly<Record<string, Step>>
  /** Handling the message takes steps too: `done` and `fail` of the recipient. */
  handled?: { done: string; fail: string }
  /** The step that a reply in plain words takes, where one settles it. */
  byReply?: string
  /** What it is about, so that another message can name it. */
  key?: (message: Pick<Message, 'id' | 'from' | 'payload'>) => string
  /** There can be only one open matter with the same key. */
  isOnly?: true
  /** What is owed, after "Waiting for ada's": `approval`. */
  owes: string
  /** Whoever asked cannot go on before it is settled. */
  blocks?: true
}

export interface Step {
  from: readonly string[]
  to: string
  /** It is settled later: it stays open in the new state. */
  staysOpen?: true
  /** Who may take it, besides the person. @default 'recipient' */
  by?: 'asker' | 'recipient'
  /** Where several were asked, each settles only its own. @default one settles it for all */
  each?: true
  /** "it cannot be ...". @default the state it leads to */
  done?: string
}

/** What an action says. Without `to` it goes to whoever leads. */
export interface Saying {
  to?: string
  subject?: string
  body?: string
  priority?: PriorityInput
  payload?: object
  context?: Record<string, unknown>
  attachments?: readonly string[]
  requiresAck?: boolean
  awaitingResponse?: boolean
  replyTo?: string
  swarm?: string
}

/** Who says it, and to whom it goes unless the saying names somebody else. */
interface Speaker {
  name: string
  to: string
}

/** The part of a mailbox that some actions look at before they say something. */
export interface Surroundings {
  show(id: string): Promise<{ message: { id: string } }>
  template(name: string): Promise<Record<string, unknown> | null>
}

/**
 * Something that can be said in a conversation. It is a pure function of its input; one runner sends what it
 * returns. With a field `id` it is a reply to that message, otherwise a new message.
 */
export interface Action<F extends Fields, P extends readonly (keyof F & string)[]> {
  type: string
  /** One line, as the help and OpenAPI say it. */
  summary: string
  input: F
  /** Fields that the library's function takes as arguments of their own. */
  positional?: P
  /** Its subcommand; without one it is the verb itself. */
  command?: string
  /** What to do next, with ID for the id of what was sent. */
  tip?: readonly [why: string, command: string]
  /** The step that it takes: `handle` of MCP knows it by this. */
  step?: string
  /** The field that says why, and what it says where nobody said anything. */
  reason?: { field: keyof F & string; otherwise?: string }
  /** The console's button for it. With `asks`, the reason is asked for first. */
  button?: { label: string; done: string; asks?: string }
  /** Completes the input with what only the mailbox knows. */
  prepare?(mailbox: Surroundings, input: InputOf<F>): Promise<InputOf<F>>
  says(input: InputOf<F>, speaker: Speaker): Saying
}
// biome-ignore lint/suspicious/noExplicitAny: actions of every input stand in one table.
export type AnyAction = Action<any, any>

/** Gives an action its types. */
export const action = <const F extends Fields, const P extends readonly (keyof F & string)[] = []>(
  declared: Action<F, P>,
): Action<F, P> => declared

export interface Verb {
  name: string
  /** Where the help lists it. @default 'protocols' */
  group?: 'send'
  summary: string
  description: string
  examples: readonly string[]
  /** For a verb whose options choose among its actions: the options, and the choice. */
  options?: Fields
  choose?: (given: Record<string, unknown>) => { action: string; input: Record<string, unknown> }
}

/** Keeps the names in the type. */
export const conversation = <const C extends Conversation>(declared: C): C => declared
