import type * as z from 'zod/mini'
import type { Follow } from '../delivery/watch.ts'
import type { Mailbox, ServedMailbox } from '../space/mailbox/api.ts'
import type { DiskSpace } from '../space/space.ts'

export type Schema = z.ZodMiniType

/**
 * One thing that can be done over HTTP; in a mailbox it is `POST /api/mailboxes/NAME/OPERATION`. The routes of the
 * hub, its OpenAPI document and the methods of the remote client all come from tables of these.
 *
 * `run` is a method so that rows with different inputs fit into one table; the caller must check the input
 * against its schema first.
 */
export interface Operation<
  I extends Schema = Schema,
  O extends Schema = Schema,
  Answer = unknown,
  On = Mailbox,
> {
  summary: string
  input: I
  output: O
  /** Changes nothing: the person may ask it of any mailbox, and it is safe to repeat. @default false */
  reads?: boolean
  /** Holds its connection until something happens. @default false */
  holds?: boolean
  /** Done by a bridge, for somebody in the folder of another system. @default false */
  bridges?: boolean
  run(on: On, input: z.output<I>): Promise<Answer>
}

/** What an operation works on that only the hub runs, on its own disk. */
export interface Served {
  mailbox: ServedMailbox
  /** Aborted when the client has gone, and when the hub stops. */
  signal: AbortSignal
  /** New entries that concern the mailbox. */
  follow: Follow
  /** False once the token of the client has ended: it gets nothing more. @default true */
  isStillGood?: (() => boolean) | undefined
}

/** An agent that may not have joined yet, so it has no mailbox. */
export interface Newcomer {
  space: DiskSpace
  name: string
}

/** Only lets TypeScript infer a row's types, and checks its answer against its schema. */
export const rowOn =
  <On, More = unknown>() =>
  <I extends Schema, O extends Schema, Answer extends z.input<O>>(row: Operation<I, O, Answer, On> & More) =>
    row

export const operation = rowOn<Mailbox>()
export const servedOperation = rowOn<Served>()
export const rosterOperation = rowOn<Newcomer>()

/** What a caller passes; it may hand over arrays that it does not want changed. */
export type InputOf<R extends { input: Schema }> = Readonlys<z.input<R['input']>>
export type AnswerOf<R extends { run(...words: never[]): Promise<unknown> }> = Awaited<ReturnType<R['run']>>

type Readonlys<T> = T extends readonly (infer Item)[]
  ? readonly Readonlys<Item>[]
  : T extends object
    ? { [Key in keyof T]: Readonlys<T[Key]> }
    : T

/** `claimNext` is `claim-next` in an address. */
export const toPath = (method: string): string =>
  method.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
