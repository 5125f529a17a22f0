import { MailboxError } from '../base/errors.ts'
import { isObject } from '../base/objects.ts'
import { parseAddress, writeAddress } from './address.ts'
import { systemAgent } from './agent.ts'
import { messageLimits, type Priority, priorities } from './message.ts'

/** A rule that gives mail other recipients, or another priority, when it is sent. */
export interface Route {
  /** Conditions such as `type:ci_failure from:role:worker "flaky test"`. All of them must hold. */
  when: string
  /** Who gets the mail instead, or with `also` as well. */
  to?: string | readonly string[]
  /** @default false */
  also?: boolean
  priority?: Priority
}

/** What a condition can be about. `words` are in the subject or in the body. */
const conditionNames = ['type', 'tag', 'from', 'to', 'priority', 'subject', 'body', 'words'] as const
type ConditionName = (typeof conditionNames)[number]

export interface Condition {
  about: ConditionName
  /** One of them must fit. */
  values: readonly string[]
}

const howToWrite =
  'conditions: type:NAME tag:TAG from:ADDRESS to:ADDRESS priority:NAME subject:WORD body:WORD, or words in the subject or body; "quotes" make a phrase'

function refuse(why: string, hint = howToWrite): never {
  throw new MailboxError('invalid', why, { hint })
}

/** Reads `type:ci_failure,review from:ada "two words"`. Throws what is wrong with it. */
export function parseConditions(when: string): Condition[] {
  const isShort = when.length <= messageLimits.subjectLength
  if (!isShort || /[\p{Cc}\p{Cf}\p{Cs}]/u.test(when))
    refuse(`a rule has 1 to ${messageLimits.subjectLength} visible characters`)
  if ((when.split('"').length - 1) % 2 !== 0) refuse(`a quote is missing in ${JSON.stringify(when)}`)
  const terms = when.match(/(?:[^\s"]|"[^"]*")+/g) ?? []
  if (terms.length === 0) refuse('a rule needs at least one condition')
  return terms.map(parseCondition)
}

function parseCondition(term: string): Condition {
  const [, prefix, rest = ''] = /^([a-z]+):(.*)$/is.exec(term) ?? []
  const about = prefix === undefined ? 'words' : conditionNames.find((name) => name === prefix)
  if (about === undefined)
    refuse(
      `there is no condition ${JSON.stringify(`${prefix}:`)}`,
      `for a tag: tag:${term}; for these words: ${JSON.stringify(term)}; ${howToWrite}`,
    )
  const written = prefix === undefined ? term : rest
  const isText = about === 'subject' || about === 'body' || about === 'words'
  // A comma between quotes belongs to the value.
  const values = (isText ? [written] : (written.match(/(?:[^,"]|"[^"]*")+/g) ?? [])).map(bare)
  if (values.length === 0 || values.includes('')) refuse(`${JSON.stringify(term)} has no value`)
  return { about, values: values.map((value) => checkedValue(about, value)) }
}

const bare = (text: string): string => text.replaceAll('"', '').trim()

function checkedValue(about: ConditionName, value: string): string {
  if (about === 'priority') checkPriority(value)
  const isAddress = (about === 'from' || about === 'to') && value !== '*'
  return isAddress ? writeAddress(parseAddress(value)) : value
}

function checkPriority(value: unknown): void {
  if (!priorities.includes(value as Priority))
    refuse(`unknown priority ${JSON.stringify(value)}`, `use ${priorities.join(', ')}`)
}

/** The addresses that a rule names. */
export const targetsOf = ({ to = [] }: Pick<Route, 'to'>): readonly string[] =>
  typeof to === 'string' ? [to] : to

/** Throws what is wrong with a rule. */
export function checkRoute(value: unknown): asserts value is Route {
  if (!isObject(value)) refuse('a rule must be an object', 'write { "when": "type:request", "to": "ada" }')
  const { when, to = [], also = false, priority, ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    refuse(`a rule has no field ${JSON.stringify(unknown)}`, 'fields: when, to, also, priority')
  if (typeof when !== 'string') refuse('a rule needs conditions (when)')
  parseConditions(when)
  const targets: unknown = typeof to === 'string' ? [to] : to
  if (!Array.isArray(targets) || targets.length > messageLimits.recipients)
    refuse('to must be an address, or a list of them', 'write "to": "role:ci"')
  for (const target of targets) {
    if (typeof target !== 'string')
      refuse('to must be an address, or a list of them', 'write "to": "role:ci"')
    const address = parseAddress(target)
    if (address.kind === 'agent' && address.name === systemAgent)
      refuse('the system cannot receive mail', 'name an agent, a role or user')
  }
  if (typeof also !== 'boolean') refuse('also must be true or false')
  if (priority !== undefined) checkPriority(priority)
  if (targets.length === 0 && priority === undefined)
    refuse('a rule must change something', 'say who gets the mail (--to ADDRESS), or --priority')
}

export function isRoutes(value: unknown): value is readonly Route[] {
  if (!Array.isArray(value)) return false
  try {
    for (const route of value) checkRoute(route)
    return true
  } catch {
    return false
  }
}

/** What a rule does, in words: `also to role:ci, with priority high`. */
export function describeEffect(route: Route): string {
  const targets = targetsOf(route)
  const parts = [
    ...(targets.length === 0 ? [] : [`${route.also ? 'also to' : 'to'} ${targets.join(', ')}`]),
    ...(route.priority === undefined ? [] : [`with priority ${route.priority}`]),
  ]
  return parts.join(', ')
}

/** What a message says of the rule that changed its recipients: stored with it. */
export interface Routed {
  /** Its place in the list at that time, from 1 on. */
  rule: number
  when: string
  /** Who it was sent to, and with which priority where the rule changed that. */
  sentTo: string[]
  priority?: Priority
}

/** `by rule 2 (type:ci_failure), sent to ada` */
export function describeRouted(value: unknown): string {
  const { rule, when, sentTo, priority } = (isObject(value) ? value : {}) as Partial<Routed>
  const sent = Array.isArray(sentTo) ? `, sent to ${sentTo.join(', ')}` : ''
  return `by rule ${rule} (${when})${sent}${priority === undefined ? '' : ` with priority ${priority}`}`
}
