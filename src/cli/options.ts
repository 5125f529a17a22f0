import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { type Priority, priorities } from '../model/message.ts'
import { parseDuration } from '../model/time.ts'

/** For options that may be given several times. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value]

/** A whole number from the command line. */
export function whole(least: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least) return value
    throw new MailboxError('invalid', `${JSON.stringify(text)} is not a number here`, {
      hint: `give a whole number from ${least} on`,
    })
  }
}

/** A number between two others, such as 2.5. */
export const numberIn = (least: number, most: number): ((text: string) => number) =>
  within(least, most, /^\d{1,9}(\.\d{1,9})?$/, 'a number')

export const wholeIn = (least: number, most: number): ((text: string) => number) =>
  within(least, most, /^\d{1,9}$/, 'a whole number')

function within(least: number, most: number, shape: RegExp, what: string): (text: string) => number {
  return (text) => {
    const value = shape.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new MailboxError('invalid', `${JSON.stringify(text)} is not ${what} here`, {
      hint: `give ${what} from ${least} to ${most}`,
    })
  }
}

/** A duration in ms; `forever` has no end. */
export const duration = (text: string): number =>
  text === 'forever' ? Number.POSITIVE_INFINITY : parseDuration(text)

export function priority(text: string): Priority {
  const found = priorities.find((each) => each === text)
  if (found !== undefined) return found
  throw new MailboxError('invalid', `there is no priority ${JSON.stringify(text)}`, {
    hint: `use ${priorities.join(', ')}`,
  })
}

/** What was given, without what was not. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

/** Paging, the same for every list. */
export interface PageFlags {
  limit?: number
  after?: string
}

export const addPaging = (command: Command): Command =>
  command
    .option('--limit <n>', 'at most so many (default 50)', whole(1))
    .option('--after <cursor>', 'the page that follows: `next` of the page before')

/** Which mail, for the verbs that read an inbox. */
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
    .option('--min-priority <priority>', 'this priority and above: low, normal, high, urgent', priority)
    .option('--from <agent>', 'only from this sender')
    .option('--tag <tag>', 'only with this tag')
    .option('--thread <id>', 'only of this thread')
