/**
 * The words of agent-mailbox, one for each idea.
 *
 * space     one journal with its index, roster and settings; what you open
 * agent     a named participant that outlives its processes
 * session   one run of an agent, with a rising generation number
 * role      a duty that agents hold; addressable while nobody holds it
 * tag       a label on agents and messages: a word, or namespaced (`project:x`)
 * roster    the agents with their sessions, roles and tags; derived
 * address   what `to` accepts: an agent, a role, a tag, `all`
 * mailbox   one agent's view of a space
 * message   the immutable thing one agent says
 * thread    messages joined by replies
 * command   a request to change, not recorded yet
 * draft     a fact that has no place in the journal yet
 * entry     a fact with its place in the journal
 * seq       an entry's place
 * receipt   one recipient's state for one message
 * claim     an exclusive, expiring right to handle a message
 * cursor    the last seq a reader has taken in
 * wake      a signal to look; it carries no content
 */
import type { StoredFields } from './fields.ts'

/** From what can wait to what cannot; the position is the rank. */
export const priorities = ['low', 'normal', 'high', 'urgent'] as const
export type Priority = (typeof priorities)[number]

/** A priority as it may be given: its word, or a number from 1 for low to 4 for urgent. */
export type PriorityInput = Priority | 1 | 2 | 3 | 4

/** The priority that a word or a number means; undefined for what is none. */
export const toPriority = (value: unknown): Priority | undefined =>
  priorities.find((one, at) => one === value || at + 1 === value)

/** How to write a priority, for whoever wrote none. */
export const priorityHint = `use ${priorities.join(', ')}, or 1 (low) to 4 (urgent)`

/** 0 for low to 3 for urgent. */
export const priorityRank = (priority: Priority): number => priorities.indexOf(priority)

/** Structural limits. The limits of a space (rate, inbox, size) are settings and may be lower. */
export const messageLimits = {
  /** The content in UTF-8: body, payload and context. */
  bytes: 1_048_576,
  /** Body of 1 MiB plus its envelope and escapes must fit a journal line, encrypted or not. */
  lineBytes: 9 * 1_048_576,
  recipients: 256,
  tags: 64,
  attachments: 256,
  subjectLength: 500,
  /** Types, keys, thread names and other short strings. */
  wordLength: 200,
  pathLength: 4_096,
  /** Mail is not a document: longer bodies are accepted with a hint. */
  bodyWordsBeforeHint: 500,
} as const

/** The form in which a message is stored and handed out; nothing in it changes after it is sent. */
export type Message = { [Name in keyof StoredFields]: StoredFields[Name] }
