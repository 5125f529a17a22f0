import { MailboxError } from '../../base/errors.ts'
import { quote } from '../../base/json.ts'
import { isObject } from '../../base/objects.ts'
import { checkId } from '../../model/id.ts'

/*
 * The types say what the methods of a mailbox take, but programs in JavaScript and models are not held to types.
 * What they pass is checked here before anything looks at it.
 */

/** Options as they were given; none at all are no options. */
export function optionsOf<T extends object>(options: T | undefined): T {
  if (options === undefined) return {} as T
  if (isObject(options)) return options
  throw new MailboxError('invalid', `${quote(options)} are no options`, {
    hint: 'pass an object of named options',
  })
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isTextOrList = (value: unknown): boolean =>
  isText(value) || (Array.isArray(value) && value.every(isText))
const isNumber = (value: unknown): boolean => typeof value === 'number'

/** The kinds of options that several methods have. */
const kinds: Record<string, [fits: (value: unknown) => boolean, kind: string]> = {
  ...{ after: [isText, 'a string'], tag: [isText, 'a string'], thread: [isText, 'a string'] },
  ...{
    type: [isTextOrList, 'a string or a list of strings'],
    from: [isTextOrList, 'a string or a list of strings'],
  },
  replyTo: [isTextOrList, 'an id or a list of ids'],
  ...{ limit: [isNumber, 'a number'], budgetTokens: [isNumber, 'a number'] },
  ...{ timeoutMs: [isNumber, 'a number'], count: [isNumber, 'a number'] },
  claimNumber: [isNumber, 'a number'],
}

/** The same, with each option of the kind that it should be. */
export function checkedOptions<T extends object>(options: T | undefined): T {
  const given = optionsOf(options)
  for (const [name, [fits, kind]] of Object.entries(kinds)) {
    const value = (given as Record<string, unknown>)[name]
    if (value !== undefined && !fits(value))
      throw new MailboxError('invalid', `${name} must be ${kind}, not ${quote(value)}`, {
        hint: 'leave it out for the default',
      })
  }
  return given
}

/** A list of ids. */
export function idsOf(ids: readonly string[]): readonly string[] {
  if (!Array.isArray(ids))
    throw new MailboxError('invalid', `${quote(ids)} is no list of ids`, { hint: 'pass a list' })
  for (const id of ids) checkId(id)
  return ids
}
