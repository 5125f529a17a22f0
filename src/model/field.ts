import type { Priority, PriorityInput } from './message.ts'

/**
 * What a field holds. The checks, the schemas, the options of the command line and the text a reader sees
 * all go by this.
 */
export type Kind = keyof Given

/** The value of each kind as a sender gives it. */
export interface Given {
  /** A UUID of version 7. */
  id: string
  /** A short string that people and programs look at: 1 to 200 visible characters. */
  word: string
  /** A word that may name an agent, a role or a swarm. */
  name: string
  text: string
  flag: boolean
  priority: PriorityInput
  /** A date and time; it is stored as `2026-11-15T09:30:00.000Z`. */
  time: string
  /** A time to come: a duration from now, a time of day, or a date. */
  moment: string
  /** A whole number above 0. */
  whole: number
  /** In ms; `null` has no end. */
  duration: number | null
  /** Any JSON. */
  json: unknown
  object: Record<string, unknown>
  list: readonly string[]
  /** One address, or several. */
  addresses: string | readonly string[]
  /** The id of another message, or `true` for the obvious one. */
  reference: string | boolean
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** The same as it is stored, where that differs. */
export interface Stored extends Omit<Given, 'priority' | 'json' | 'object' | 'list' | 'addresses'> {
  priority: Priority
  json: Json
  object: Record<string, Json>
  list: string[]
  addresses: string[]
}

export interface Field {
  kind: Kind
  /** Whether a sender may give it. */
  input?: 'optional'
  /** Whether every message has it or only some. Absent: it says how to send and is not stored. */
  stored?: 'always' | 'optional'
  /** The command works out what is stored. All other optional fields are stored as they were given. */
  decided?: true
  /** Belongs to one sending: a message that is sent again does not take it along. */
  once?: true
  default?: string | boolean
  /** Of a text, or of each item of a list. */
  maxLength?: number
  maxItems?: number
  /** What each item of a list is, beyond a string. */
  items?: 'name' | 'tag'
  /** A word that may not contain spaces. */
  solid?: true
  /** How to fix an invalid value. */
  hint?: string
  /** Its option on the command line, and what the help says about it. Absent: there is none. */
  cli?: readonly [option: string, help: string]
  /** What the MCP tool says about it; its name there is that of the option. Absent: the tool does not have it. */
  mcp?: string
  /** What other systems call it: a hint for whoever uses their names. */
  aka?: readonly string[]
  /** Readers see it under this label. */
  label?: string
  /** What readers see of it. @default its value */
  say?: (value: unknown) => string
  /** Readers see it in a section of its own rather than in the head. */
  section?: true
}
