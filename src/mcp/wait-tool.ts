import { randomUUID } from 'node:crypto'
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { asMailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { plainLine } from '../conversation/fence.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { isGone, orGiveBack } from './caller.ts'
import { type Tasks, type TaskWork, takesTasks } from './tasks.ts'
import { answer, factsOf, fenced } from './tool-result.ts'

/** The longest wait, and how often it reports progress. */
const longestWaitS = 600
const progressMs = 5_000

const word = z.string().exactOptional()

export const waitSchema = z.object({
  from: word,
  type: word,
  // A list in one word: some clients cannot offer a field that is a text or a list.
  replyTo: word.describe('ids, comma-separated'),
  count: z.number().exactOptional(),
  acked: word,
  settled: word,
  seconds: z.number().exactOptional().describe('default 60'),
})

type Wanted = z.output<typeof waitSchema>

interface Until {
  timeoutMs: number
  signal: AbortSignal
}

/** Waits for mail, or for what becomes of a message; as a task, if the client takes one. */
export async function waitFor(
  mailbox: Mailbox,
  { seconds = 60, ...wanted }: Wanted,
  context: ServerContext,
  tasks: Tasks<WaitWork>,
): Promise<CallToolResult> {
  const timeoutMs = Math.min(Math.max(seconds, 0), longestWaitS) * 1_000
  if (takesTasks(context)) {
    const work = { wanted, createdAt: Date.now(), timeoutMs }
    return (await lookFor(mailbox, work, context)) ?? tasks.created(taskIdOf(work))
  }
  const stop = reportProgress(context)
  try {
    return await waitUntil(mailbox, wanted, { timeoutMs, signal: context.mcpReq.signal }, context)
  } finally {
    stop()
  }
}

/** A wait that has become a task. */
export interface WaitWork extends TaskWork {
  wanted: Omit<Wanted, 'seconds'>
  timeoutMs: number
}

/** For how long after its end a wait can be asked for. */
const keptMs = 600_000
/** How long a look at a wait takes while there is nothing. */
const lookMs = 1_000

const idSchema = z
  .string()
  .transform((text, { addIssue }): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      addIssue('not JSON')
      return z.NEVER
    }
  })
  .pipe(z.object({ wanted: waitSchema, createdAt: z.number(), timeoutMs: z.number() }))

/** A task's id says what it waits for. So a hub keeps nothing for it, and it goes on when another hub is asked. */
const taskIdOf = (work: Omit<WaitWork, 'ttlMs'>): string =>
  Buffer.from(JSON.stringify({ ...work, nonce: randomUUID() })).toString('base64url')

export function workOf(taskId: string): WaitWork | undefined {
  const { data: work } = idSchema.safeParse(Buffer.from(taskId, 'base64url').toString())
  return work && { ...work, ttlMs: Math.min(work.timeoutMs, longestWaitS * 1_000) + keptMs }
}

/**
 * The result of a wait, if there is one by now. Nothing is taken before that, so a client that never asks again loses
 * nothing.
 */
export async function lookFor(
  mailbox: Mailbox,
  { wanted, createdAt, timeoutMs }: Omit<WaitWork, 'ttlMs'>,
  context: ServerContext,
): Promise<CallToolResult | undefined> {
  const leftMs = Math.max(createdAt + timeoutMs - Date.now(), 0)
  const over = AbortSignal.timeout(lookMs)
  const until = { timeoutMs: leftMs, signal: AbortSignal.any([context.mcpReq.signal, over]) }
  try {
    return await waitUntil(mailbox, wanted, until, context)
  } catch (error) {
    if (over.aborted && !(await isGone(context)) && asMailboxError(error).code === 'interrupted')
      return undefined
    throw error
  }
}

async function waitUntil(
  mailbox: Mailbox,
  wanted: WaitWork['wanted'],
  until: Until,
  context: ServerContext,
): Promise<CallToolResult> {
  if (wanted.acked !== undefined) {
    const acked = await mailbox.waitForAck(wanted.acked, until)
    return answer(acked ? 'acknowledged' : 'not acknowledged yet', { messages: [], acked })
  }
  if (wanted.settled !== undefined) {
    const { settled, matters } = await mailbox.waitUntilSettled(listOf(wanted.settled), until)
    const lines = matters.map(({ kind, state, by, id }) => plainLine(`${kind} ${state}, ${by}: ${id}`))
    const text = lines.length === 0 ? 'nothing was asked for' : lines.join('\n')
    return answer(text, { messages: [], settled, matters })
  }
  return waitForMail(mailbox, wanted, until, context)
}

async function waitForMail(
  mailbox: Mailbox,
  { from, type, replyTo, count }: WaitWork['wanted'],
  until: Until,
  context: ServerContext,
): Promise<CallToolResult> {
  const ids = replyTo === undefined ? [] : listOf(replyTo)
  const isList = ids.length > 1 && count === undefined
  const found = await mailbox.waitForMessages({
    ...given({ from, type, replyTo: ids.length === 0 ? undefined : ids }),
    ...until,
    ...(isList ? {} : { count: count ?? 1 }),
  })
  await orGiveBack(mailbox, found, context)
  const missing = (count ?? Math.max(ids.length, 1)) - found.length
  const rest = missing > 0 && found.length > 0 ? `\n\n${missing} more did not arrive` : ''
  const text = found.length === 0 ? 'no mail arrived' : fenced(found, true)
  return answer(text + rest, { messages: found.map(factsOf) })
}

const listOf = (words: string): string[] =>
  words
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** Clients give up on silent calls; those that ask for it get progress reports. */
function reportProgress({ mcpReq }: ServerContext): () => void {
  const token = mcpReq._meta?.progressToken
  if (token === undefined) return () => {}
  let progress = 0
  const timer = setInterval(() => {
    progress++
    const params = { progressToken: token, progress, message: 'waiting' }
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }, progressMs)
  return () => clearInterval(timer)
}
