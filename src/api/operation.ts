import type * as z from 'zod/mini'

export type Schema = z.ZodMiniType

/**
 * One thing that can be done in a mailbox over HTTP: `POST /api/mailboxes/NAME/OPERATION`. The routes of the
 * hub, its OpenAPI document and the methods of the remote client are all made from tables of these.
 */
export interface Operation {
  summary: string
  /** Fields of the input that the function takes as arguments of their own, in order; the rest is its options. */
  positional?: readonly string[]
  input: Schema
  output: Schema
  /** Changes nothing: the person may ask it of anybody's mailbox, and it may be asked again. @default false */
  reads?: boolean
  /** The answer is put into an object under this name where it is not one already. */
  wrap?: string
}

/** Something to look at: `GET` with its options in the query. */
export interface Reading {
  path: string
  summary: string
  query: Schema
  output: Schema
}

/** The arguments that a function takes, from the one object that came over the wire. */
export function toArguments({ positional = [] }: Operation, input: Record<string, unknown>): unknown[] {
  const { ...rest } = input
  const leading = positional.map((field) => {
    const value = rest[field]
    delete rest[field]
    return value
  })
  return [...leading, rest]
}

/** The other way round. */
export function fromArguments({ positional = [] }: Operation, words: readonly unknown[]): object {
  const leading = positional.map((field, at) => [field, words[at]] as const)
  return { ...(words[positional.length] as object | undefined), ...Object.fromEntries(leading) }
}

/** `claimNext` is `claim-next` in an address. */
export const toPath = (method: string): string =>
  method.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
