import type { Agent } from '../model/agent.ts'
import type { SendInput } from '../model/fields.ts'
import type { Message } from '../model/message.ts'
import type { Folder } from './folder.ts'

/** How far a copy of a message is, in the words that all formats share; each has a place for some of them. */
const copyStates = [
  'unread',
  'read',
  'acked',
  'processing',
  'failed',
  'done',
  'archived',
  /** Archived after it was done. */
  'filed',
  'expired',
  'withdrawn',
  /** Its recipient does not exist there. */
  'dead',
] as const
export type CopyState = (typeof copyStates)[number]

/** A message as both sides can say it. Names and addresses are those of the space. */
export interface Letter
  extends Pick<
    SendInput,
    | 'subject'
    | 'body'
    | 'type'
    | 'requiresAck'
    | 'awaitingResponse'
    | 'tags'
    | 'attachments'
    | 'swarm'
    | 'payload'
    | 'context'
  > {
  from: string
  priority?: Message['priority']
  /** When it was written, and when it expires: ISO, in UTC. */
  at?: string | undefined
  /** `null`: never; absent: by the kind of its address. */
  expiresAt?: string | null | undefined
  /** Ids there: of the message that it answers, and of its thread. */
  replyTo?: string | undefined
  thread?: string | undefined
}

/** Up to where a file was read, set once everything before it is in the space. */
export interface Mark {
  path: string
  stamp: string
}

/** A copy of a message that lies in the folder. */
export interface CopyFact {
  kind: 'copy'
  /** Its id there. */
  id: string
  /** Whose copy it is: an agent, or an address of the space. */
  owner: string
  /** Tells copies with the same id apart, where each of them is a message. */
  copy?: string
  /** The file, and its line if it has many messages. */
  place: string
  line?: number
  /** Puts the messages of one sender in order, where the order of the files does not. */
  order?: readonly [string, number]
  /** Undefined if the format keeps states elsewhere, or has none. */
  state: CopyState | undefined
  /** When the state was reached, as far as the format says. */
  stateAt?: string | undefined
  /** It lies where finished mail lies: if it is new here, it is history. */
  isPast?: boolean
  /** Nobody there has the name it is for: that makes nobody an agent here. */
  isForNobody?: boolean
  letter: Letter
  /** The message as it is written there. */
  raw: string
  mark?: Mark | undefined
}

/** The state of a copy, where the format keeps it apart from the message. */
interface StateFact {
  kind: 'state'
  id: string
  /** Who has read it. */
  owner: string
  state: CopyState
  at?: string | undefined
  /** Why it failed, in words for its sender. */
  reason?: string
  mark?: Mark | undefined
}

/** Somebody is there. */
export interface AgentFact {
  kind: 'agent'
  name: string
  roles?: string[]
  tags?: string[]
  /** False: it is there no more, and is expected back. */
  isHere?: boolean
  mark?: Mark | undefined
}

/** Something cannot be read. It stays where it is. */
export interface ProblemFact {
  kind: 'problem'
  place: string
  line?: number | undefined
  reason: string
  mark?: Mark | undefined
}

/** A file was read as far as it can be. */
interface MarkFact {
  kind: 'mark'
  mark: Mark
}

/** A file that a killed bridge has left behind, and that means nothing any more. */
interface LeftoverFact {
  kind: 'leftover'
  place: string
  mark?: undefined
}

export type Fact = LeftoverFact | CopyFact | StateFact | AgentFact | ProblemFact | MarkFact

/** A message of the space for one who is there. */
export interface Outgoing {
  /** Its id there: {@link Format.idFor}. */
  id: string
  /** Whose copy it is, in the words of the space. */
  owner: string
  /** It went to a group: one of several copies. */
  isGroup: boolean
  letter: Letter & { at: string }
  /** What it was there when a bridge of this format found it, if that cannot be said otherwise. */
  raw?: string | undefined
  /** An earlier run may have written it. */
  mayBeThere: boolean
  /** A run that is forgotten has written it: where readers take messages out, it may be there no more. */
  wasDelivered?: boolean
}

/** A copy that is known on both sides. */
export interface Link {
  /** Its id there, and whose copy it is. */
  foreign: string
  owner: string
  /** The id of the message in the space. */
  id: string
  place: string
  /** The state that both sides have agreed on. */
  state: CopyState
}

/**
 * A format of another system: what to watch, how its bytes become messages and states, how ours become its bytes, and
 * how its writers lock. Everything else is the same for all formats: see bridge.ts.
 */
export interface Format {
  readonly name: string
  /** What the other system is, in a few words. */
  readonly about: string
  /** Where such a folder usually is on this machine. */
  usualPaths(env: NodeJS.ProcessEnv, cwd: string): string[]
  /** Whether a folder is one of this format. */
  fits(folder: Folder): boolean

  /** The directories in which something can change. */
  watched(folder: Folder): string[]
  /** What is in the folder and was not read before. */
  read(folder: Folder): Iterable<Fact>
  /** Each message is a file, so that their order is not that of the directory. @default false */
  readonly sorts?: boolean

  /** Whether somebody can be written to there, by somebody. */
  reaches(folder: Folder, name: string, from: string): boolean
  /** A message to a group or a role is written once, for all of them. @default a copy for each */
  readonly hasGroups?: boolean
  /** What a message of the space is called there. Always the same, so that it is never written twice. */
  idFor(id: string, owner: string): string
  /** The bytes of a message, unread. */
  render(folder: Folder, outgoing: Outgoing): string
  /** Writes a copy, unless it is there already. Returns where it is. */
  write(folder: Folder, outgoing: Outgoing): string
  /** Takes a copy to a state. Returns the state that it has there afterwards. */
  setState(folder: Folder, link: Link, state: CopyState, at: string): CopyState
  /** The state there that says as much as possible of a state here. */
  project(state: CopyState): CopyState
  /** What the folder keeps of the mail of an agent as a whole. Called after an agent here has changed a state. */
  summarize?(folder: Folder, owner: string, unread: number, at: string): void

  /** Tells the other side who is here. */
  writeRoster?(folder: Folder, agents: readonly Agent[]): void
  /** Begins what lasts as long as the bridge runs, such as sockets; `ring` asks for a look. */
  start?(folder: Folder, ring: () => void): void
  /** What is left to do there at the end of a look, such as to take out what is in the space by now. */
  tend?(folder: Folder): void
  /** Takes back what means that a bridge runs. Called when it ends. */
  leave?(folder: Folder): void
  /** What a message loses on its way there and back: names of fields. */
  readonly cannotHold: readonly (keyof Letter)[]
}

export const rankOf = (state: CopyState): number => copyStates.indexOf(state)
