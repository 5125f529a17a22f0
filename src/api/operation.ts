import type * as z from 'zod/mini'
import type { Follow } from '../delivery/watch.ts'
import type { Space } from '../space/api.ts'
import type { Mailbox, ServedMailbox } from '../space/mailbox/api.ts'

export type Schema = z.ZodMiniType

interface Row<I extends Schema, O extends Schema> {
  summary: string
  input: I
  output: O
  /** Changes nothing: the person may ask it of any mailbox, and it is safe to repeat. @default false */
  reads?: boolean
}

/**
 * One thing that can be done in a mailbox over HTTP: `POST /api/mailboxes/NAME/OPERATION`. The routes of the
 * hub, its OpenAPI document and the methods of the remote client all come from tables of these.
 *
 * `run` is a method so that rows with different inputs fit into one table; the caller must check the input
 * against its schema first.
 */
export interface Operation<I extends Schema = Schema, O extends Schema = Schema, Answer = unknown>
  extends Row<I, O> {
  run(mailbox: Mailbox, input: z.output<I>): Promise<Answer>
}

/** What a waiting operation needs to know about its request. */
export interface Wait {
  /** Aborted when the client has gone, and when the hub stops. */
  signal: AbortSignal
  /** New entries that concern the mailbox. */
  follow: Follow
}

/** An operation that needs more than every mailbox offers: only the hub runs it, on its own disk. */
export interface ServedOperation<I extends Schema = Schema, O extends Schema = Schema, Answer = unknown>
  extends Row<I, O> {
  /** Holds its connection until something happens. @default false */
  holds?: boolean
  run(mailbox: ServedMailbox, input: z.output<I>, wait: Wait): Promise<Answer>
}

/** An operation on an agent that may not have joined yet, so it has no mailbox. */
export interface RosterOperation<I extends Schema = Schema, O extends Schema = Schema, Answer = unknown>
  extends Row<I, O> {
  run(space: Space, name: string, input: z.output<I>): Promise<Answer>
}

/** The next three only let TypeScript infer a row's types, and check its answer against its schema. */
export const operation = <I extends Schema, O extends Schema, Answer extends z.input<O>>(
  row: Operation<I, O, Answer>,
): Operation<I, O, Answer> => row

export const servedOperation = <I extends Schema, O extends Schema, Answer extends z.input<O>>(
  row: ServedOperation<I, O, Answer>,
): ServedOperation<I, O, Answer> => row

export const rosterOperation = <I extends Schema, O extends Schema, Answer extends z.input<O>>(
  row: RosterOperation<I, O, Answer>,
): RosterOperation<I, O, Answer> => row

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
