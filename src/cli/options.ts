import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { type Priority, priorityHint, toPriority } from '../model/message.ts'
import { parseDuration, readFuture, toDuration } from '../model/time.ts'

/** For repeatable options. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value]

type ParseNumber = (text: string) => number

/** A whole number. */
export const whole = (least: number, most = Number.POSITIVE_INFINITY): ParseNumber =>
  within(least, most, /^\d{1,15}$/, 'a whole number')

/** A number that may have decimals, such as 2.5. */
export const numberIn = (least: number, most: number): ParseNumber =>
  within(least, most, /^\d{1,9}(\.\d{1,9})?$/, 'a number')

function within(least: number, most: number, shape: RegExp, what: string): ParseNumber {
  return (text) => {
    const value = shape.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new MailboxError('invalid', `${JSON.stringify(text)} is not a valid number here`, {
      hint: `use ${what}, ${Number.isFinite(most) ? `${least} to ${most}` : `${least} or more`}`,
    })
  }
}

/** A duration in ms; infinite for `forever`. */
export const duration = (text: string): number =>
  text === 'forever' ? Number.POSITIVE_INFINITY : finiteDuration(text)

/** A duration in ms: `15m`, `90s`, `1500`. */
export const finiteDuration = (text: string): number => parseDuration(text)

/** A duration in ms that has a least length. */
export const durationFrom =
  (leastMs: number): ParseNumber =>
  (text) => {
    const ms = parseDuration(text)
    if (ms >= leastMs) return ms
    throw new MailboxError('invalid', `${JSON.stringify(text)} is too short here`, {
      hint: `use ${toDuration(leastMs)} or more`,
    })
  }

/** A time to come. A time of day is the one here, wherever the space is. */
export function moment(text: string): string {
  const time = /^\s*\d+\s*[a-z]+\s*$/.test(text) ? undefined : readFuture(text, Date.now())
  return time === undefined ? text : new Date(time).toISOString()
}

export function priority(text: string): Priority {
  const found = toPriority(/^\d$/.test(text) ? Number(text) : text)
  if (found !== undefined) return found
  throw new MailboxError('invalid', `unknown priority ${JSON.stringify(text)}`, { hint: priorityHint })
}

export { given } from '../base/objects.ts'

/** Filters of the verbs that read an inbox. */
export interface FilterFlags {
  type?: string
  from?: string
  tag?: string
  thread?: string
  minPriority?: Priority
}

export const addFilters = (command: Command): Command =>
  command
    .option('--type <type>', 'only this type, such as request or response')
    .option('--min-priority <priority>', 'only this priority or higher: low, normal, high, urgent', priority)
    .option('--from <agent>', 'only from this sender')
    .option('--tag <tag>', 'only with this tag')
    .option('--thread <id>', 'only in this thread')
