import { isObject } from '../base/objects.ts'
import { type PriorityInput, priorities, toPriority } from '../model/message.ts'

/** What the value of a field can be. */
interface Values {
  text: string
  /** Text that is not empty. */
  word: string
  texts: readonly string[]
  number: number
  whole: number
  /** From 0 to 1. */
  share: number
  /** Milliseconds, above 0. The command line takes 90s, 15m, 2h. */
  duration: number
  boolean: boolean
  priority: PriorityInput
  /** Text or a number. */
  scalar: string | number
  /** Any JSON: other programs put it there, and we only show it. */
  any: unknown
  /** A list of objects with `fields`. */
  records: readonly object[]
}

/** One named value: of a payload, or of what an action takes. Plain data, so that every reader and writer can use it. */
export interface Field {
  kind: keyof Values
  /** @default false */
  required?: boolean
  /** What stands before the value where it is put into words. Without one the value stays JSON. */
  label?: string
  /** How the value reads, where its kind does not say it. For a list: one item. */
  says?: (value: never) => string
  /** Of a record. */
  fields?: Fields
  /** What stays readable of the value where the message is encrypted, because something is opened or settled by it. */
  outline?: (value: unknown) => string | number | boolean | undefined
  /** What it is, for the help of the command line. */
  about?: string
  /** How one text of the command line is read, where its kind does not say it. */
  reads?: (text: string) => unknown
  /** On the command line, `-` stands for standard input. */
  readsInput?: true
  /** Its option on the command line, such as `--task <id>`, or its argument, such as `<id>`. @default none */
  flag?: string
}
export type Fields = Readonly<Record<string, Field>>

type ValueOf<F extends Field> = F extends { fields: infer Inner extends Fields }
  ? readonly InputOf<Inner>[]
  : Values[F['kind']]
type RequiredOf<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { required: true } ? Name : never
}[keyof F]

/** The object that fields describe. */
export type InputOf<F extends Fields> = { [Name in RequiredOf<F>]: ValueOf<F[Name]> } & {
  [Name in Exclude<keyof F, RequiredOf<F>>]?: ValueOf<F[Name]>
} extends infer Both
  ? { [Name in keyof Both]: Both[Name] }
  : never

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

/** By kind: whether a value is one, and what to say where it is not. */
const checks: Record<keyof Values, readonly [(value: unknown) => boolean, string]> = {
  text: [isText, 'text'],
  word: [(value) => isText(value) && value !== '', 'text that is not empty'],
  texts: [(value) => Array.isArray(value) && value.every(isText), 'a list of texts'],
  number: [isNumber, 'a number'],
  whole: [Number.isSafeInteger, 'a whole number'],
  share: [(value) => isNumber(value) && value >= 0 && value <= 1, 'a number from 0 to 1'],
  duration: [(value) => isNumber(value) && value > 0, 'a number of milliseconds above 0'],
  boolean: [(value) => typeof value === 'boolean', 'true or false'],
  priority: [(value) => toPriority(value) !== undefined, `one of ${priorities.join(', ')}`],
  scalar: [(value) => isText(value) || isNumber(value), 'text or a number'],
  any: [() => true, 'JSON'],
  records: [Array.isArray, 'a list of objects'],
}

/** A value that does not fit: where it is, and what is wrong with it. */
export interface Misfit {
  path: string[]
  problem: string
}

/** The first thing in an object that its fields do not allow. Fields that are not named are nobody's concern here. */
export function findMisfit(fields: Fields, object: unknown): Misfit | undefined {
  if (!isObject(object)) return { path: [], problem: 'must be an object' }
  for (const [name, field] of Object.entries(fields)) {
    const value = object[name]
    const found = value === undefined ? missing(field) : misfitOf(field, value)
    if (found !== undefined) return { path: [name, ...found.path], problem: found.problem }
  }
  return undefined
}

const missing = ({ required = false }: Field): Misfit | undefined =>
  required ? { path: [], problem: 'is missing' } : undefined

function misfitOf({ kind, fields }: Field, value: unknown): Misfit | undefined {
  const [fits, what] = checks[kind]
  if (!fits(value)) return { path: [], problem: `must be ${what}` }
  if (fields === undefined) return undefined
  for (const [at, item] of (value as unknown[]).entries()) {
    const found = findMisfit(fields, item)
    if (found !== undefined) return { path: [String(at), ...found.path], problem: found.problem }
  }
  return undefined
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** As short as it stays exact enough: 90 s, 15 min, 24 h. */
function sayDuration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** A value as people say it; a list is several sayings. */
export function sayValue(field: Field, value: unknown): string[] {
  const { kind, says = toText } = field
  // Mail that was imported may hold anything.
  if (misfitOf(field, value) !== undefined) return [toText(value)]
  if (Array.isArray(value)) return (value as never[]).map(says)
  if (says !== toText) return [says(value as never)]
  if (kind === 'duration') return [sayDuration(Number(value) / 1_000)]
  if (typeof value === 'boolean') return [value ? 'yes' : 'no']
  return [toText(value)]
}

/** The fields of a payload that is an object. */
export const fieldsOf = (payload: unknown): Record<string, unknown> => (isObject(payload) ? payload : {})

/** A text or a number of a payload, as text; undefined where there is none. */
export function wordIn(payload: unknown, name: string): string | undefined {
  const value = fieldsOf(payload)[name]
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined
}
