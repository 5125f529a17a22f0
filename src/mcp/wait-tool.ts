import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { given } from '../base/objects.ts'
import { plainLine } from '../conversation/fence.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { giveBack, isGone } from './caller.ts'
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

/** Waits for mail, or for what becomes of a message. */
export async function waitFor(
  mailbox: Mailbox,
  { seconds = 60, ...wanted }: Wanted,
  context: ServerContext,
): Promise<CallToolResult> {
  const stop = reportProgress(context)
  try {
    const timeoutMs = Math.min(Math.max(seconds, 0), longestWaitS) * 1_000
    const until = { timeoutMs, signal: context.mcpReq.signal }
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
    return await waitForMail(mailbox, wanted, until, context)
  } finally {
    stop()
  }
}

async function waitForMail(
  mailbox: Mailbox,
  { from, type, replyTo, count }: Wanted,
  until: { timeoutMs: number; signal: AbortSignal },
  context: ServerContext,
): Promise<CallToolResult> {
  const ids = replyTo === undefined ? [] : listOf(replyTo)
  const isList = ids.length > 1 && count === undefined
  const found = await mailbox.waitForMessages({
    ...given({ from, type, replyTo: ids.length === 0 ? undefined : ids }),
    ...until,
    ...(isList ? {} : { count: count ?? 1 }),
  })
  if (isGone(context)) return giveBack(mailbox, found)
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
