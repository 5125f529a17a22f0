import { typeOf } from '../conversation/registry.ts'
import { isOfType } from '../conversation/type-names.ts'
import { type Address, boxOf, writeAddress } from '../model/address.ts'
import { systemAgent } from '../model/agent.ts'
import type { Directory } from '../model/directory.ts'
import type { SendInput } from '../model/fields.ts'
import { type Message, messageLimits, type Priority } from '../model/message.ts'
import { type Condition, parseConditions, type Route, type Routed, targetsOf } from '../model/routes.ts'
import { isCalled, isMeant } from '../model/rules.ts'
import { buildMessage } from './build-message.ts'
import { invalid } from './check-send.ts'
import type { Context } from './context.ts'
import { type Resolved, resolveAddresses } from './resolve.ts'
import type { SendCommand } from './send.ts'

/** What a rule makes of a message. */
export interface Rerouting extends Resolved {
  priority: Priority
  routed: Routed
}

/**
 * The first rule that fits a message, and what it makes of it; undefined if none changes anything. It is asked once,
 * when the message is sent, so rules cannot send it around in circles.
 */
export function findRoute(
  directory: Directory,
  message: Message,
  input: Pick<SendInput, 'generation'>,
  resolved: Resolved,
  { policy }: Pick<Context, 'policy'>,
): Rerouting | undefined {
  if (policy.routes.length === 0 || !isRoutable(message, input)) return undefined
  const at = policy.routes.findIndex(
    (route) => fits(route, directory, message, resolved.addresses) && !isOwn(route, directory, message.from),
  )
  const route = policy.routes[at]
  return route === undefined ? undefined : effectOf(at + 1, route, directory, message, resolved)
}

/** The message as the rule wants it: its life goes by its new recipients. */
export function reroute(
  command: SendCommand,
  { id }: Message,
  { addresses, priority, routed }: Rerouting,
  context: Context,
): Message {
  const message = buildMessage(command, addresses, { ...context, newId: () => id })
  return { ...message, priority, routed: { ...routed } }
}

/**
 * Answers go to whoever asked, what is for one run of an agent goes to that run, and a notice of the system to whoever
 * it is for.
 */
const isRoutable = (
  { from, type, replyTo }: Message,
  { generation }: Pick<SendInput, 'generation'>,
): boolean =>
  from !== systemAgent && replyTo === undefined && generation === undefined && !typeOf(type)?.isBound

/** The mail that a rule collects is passed on by those who get it: to them it does not come back. */
function isOwn(route: Route, directory: Directory, from: string): boolean {
  const sender = senderOf(directory, from)
  return resolveAddresses(directory, targetsOf(route), true).addresses.some(
    (address) =>
      (address.kind === 'agent' || address.kind === 'role') && isCalled(sender, writeAddress(address)),
  )
}

const senderOf = ({ agents }: Directory, name: string) => agents.get(name) ?? { name, roles: [], tags: [] }

function effectOf(
  rule: number,
  route: Route,
  directory: Directory,
  message: Message,
  resolved: Resolved,
): Rerouting | undefined {
  const targets = targetsOf(route)
  // An agent that a rule names may join later; the sender cannot do anything about it.
  const found = resolveAddresses(directory, targets, true)
  const keepsAll = route.also === true || targets.length === 0
  const addresses = distinct(keepsAll ? [...resolved.addresses, ...found.addresses] : found.addresses)
  if (addresses.length > messageLimits.recipients)
    invalid(
      `with rule ${rule} of the routes the message has ${addresses.length} recipients`,
      `the limit is ${messageLimits.recipients}: send it to fewer`,
    )
  const warnings = keepsAll ? [...resolved.warnings, ...found.warnings] : found.warnings
  const { to: sentTo, priority: given } = message
  const { priority = given } = route
  const isSame =
    addresses.length === sentTo.length && addresses.every((one) => sentTo.includes(writeAddress(one)))
  if (isSame && priority === given) return undefined
  const routed = { rule, when: route.when, sentTo, ...(priority === given ? {} : { priority: given }) }
  return { addresses, warnings, priority, routed }
}

const distinct = (addresses: readonly Address[]): Address[] => [
  ...new Map(addresses.map((address) => [writeAddress(address), address])).values(),
]

type Test = (message: Message, directory: Directory, addresses: readonly Address[]) => boolean

const tests: Record<Condition['about'], (values: readonly string[]) => Test> = {
  type: (values) => (message) => isOfType(message.type, values),
  priority: (values) => (message) => values.includes(message.priority),
  from:
    (values) =>
    ({ from }, directory) =>
      values.some((value) => isCalled(senderOf(directory, from), value)),
  to: (values) => (_, directory, addresses) =>
    addresses.some((address) => values.some((value) => isMeant(address, value, directory))),
  // The group that mail is sent to is one of its tags, as in an inbox.
  tag:
    (values) =>
    ({ tags, to }) =>
      [...tags, ...to.map(boxOf)].some((tag) => values.includes(tag)),
  subject:
    (values) =>
    ({ subject }) =>
      hasWords(values, subject),
  body:
    (values) =>
    ({ body }) =>
      hasWords(values, body),
  words:
    (values) =>
    ({ subject, body }) =>
      hasWords(values, subject) || hasWords(values, body),
}

const hasWords = (phrases: readonly string[], text: string): boolean =>
  phrases.some((phrase) => patternOf(phrase).test(text))

const patterns = new Map<string, RegExp>()

/** Whole words, in any case and with any space between them. */
function patternOf(phrase: string): RegExp {
  const known = patterns.get(phrase)
  if (known !== undefined) return known
  const words = phrase.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])${words.join('\\s+')}(?![\\p{L}\\p{N}_])`, 'iu')
  patterns.set(phrase, pattern)
  return pattern
}

/** Rules stay the same while a space is open, so each is read once. */
const read = new WeakMap<Route, readonly Test[]>()

function fits(route: Route, directory: Directory, message: Message, addresses: readonly Address[]): boolean {
  let all = read.get(route)
  if (all === undefined) {
    all = parseConditions(route.when).map(({ about, values }) => tests[about](values))
    read.set(route, all)
  }
  return all.every((test) => test(message, directory, addresses))
}
