import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { MailboxError } from '../base/errors.ts'
import { priorities } from '../model/message.ts'
import { toPrintableLine } from '../model/text.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { DiskSpace } from '../space/space.ts'
import { isGone } from './caller.ts'
import type { Calls } from './calls.ts'
import { clean } from './clean.ts'
import { handle, sendTypes, steps, stepWords } from './handle.ts'
import { sendFrom, sendSchema } from './send-tool.ts'
import { answer, factsOf, failure, fenced } from './tool-result.ts'

/** How long a wait may be, and how often it says that it still waits. */
const longestWaitS = 600
const progressMs = 5_000

const text = z.string()
const one = z.object({ text, id: z.string() }).loose()
const messages = z
  .object({ text, messages: z.array(z.object({ id: z.string(), from: z.string() }).loose()) })
  .loose()

/** Eight tools, and no more: every word of them is paid for by every agent in every turn. */
export function registerTools(
  server: McpServer,
  space: DiskSpace,
  mailboxOf: (context: ServerContext) => Promise<Mailbox>,
  calls: Calls,
): void {
  /** Gives a tool its mailbox, and whoever called it an answer whatever happens. */
  const as =
    <Input>(
      work: (mailbox: Mailbox, input: Input, context: ServerContext) => Promise<ReturnType<typeof answer>>,
    ) =>
    (input: Input, context: ServerContext) =>
      calls.run(async () => work(await mailboxOf(context), input, context)).catch(failure)

  server.registerTool(
    'send',
    {
      description: `Send mail. replyTo alone answers; handoff hands work over. Types: ${sendTypes}.`,
      inputSchema: sendSchema,
      outputSchema: one,
    },
    as(async (mailbox, input) => {
      const sent = await sendFrom(mailbox, input)
      const warnings = sent.warnings.map((warning) => `\nwarning: ${toPrintableLine(warning)}`).join('')
      return answer(`sent ${sent.id} to ${toPrintableLine(sent.to.join(', '))}${warnings}`, factsOf(sent))
    }),
  )

  server.registerTool(
    'check',
    {
      description: 'Read new mail, most urgent first; marks it shown, claims role mail.',
      inputSchema: z.object({
        limit: z.number().optional(),
        minPriority: z.enum(priorities).optional(),
        full: z.boolean().optional(),
      }),
      outputSchema: messages,
    },
    as(async (mailbox, { limit = 20, minPriority = 'low', full = false }, context) => {
      const { messages: found, remaining } = await mailbox.check({ limit, minPriority })
      if (isGone(context)) return giveBack(mailbox, found)
      const rest = remaining.unread === 0 ? '' : `\n\n${remaining.unread} more unread: check again`
      const text = found.length === 0 ? 'no new mail' : fenced(found, full)
      return answer(text + rest, { messages: found.map(factsOf), unread: remaining.unread })
    }),
  )

  server.registerTool(
    'read',
    {
      description: 'Read a message in full, or its whole thread.',
      inputSchema: z.object({ id: z.string(), thread: z.boolean().optional() }),
      outputSchema: messages,
    },
    as(async (mailbox, { id, thread = false }) => {
      const found = thread ? await mailbox.thread(id) : [await mailbox.read(id)]
      return answer(fenced(found, true), { messages: found.map(factsOf) })
    }),
  )

  server.registerTool(
    'handle',
    {
      description: `Say what became of mail. ${stepWords}. note: why.`,
      inputSchema: z.object({ id: z.string(), step: z.enum(steps), note: z.string().optional() }),
      outputSchema: one,
      annotations: { idempotentHint: true },
    },
    as(async (mailbox, { id, step, note }) => {
      const done = await handle(mailbox, id, step, note)
      return answer(done.text, { id: done.id, state: done.state })
    }),
  )

  server.registerTool(
    'wait',
    {
      description: 'Wait for mail; what does not match stays unread.',
      inputSchema: z.object({
        from: z.string().optional(),
        type: z.string().optional(),
        replyTo: z.string().optional(),
        seconds: z.number().optional().describe('60 unless given'),
      }),
      outputSchema: messages,
    },
    as(async (mailbox, { seconds = 60, ...filter }, context) => {
      const stop = sayProgress(context)
      try {
        const timeoutMs = Math.min(Math.max(seconds, 0), longestWaitS) * 1_000
        const found = await mailbox.wait({ ...clean(filter), timeoutMs, signal: context.mcpReq.signal })
        if (found === null) return answer('nothing came', { messages: [] })
        if (isGone(context)) return await giveBack(mailbox, [found])
        return answer(fenced([found], true), { messages: [factsOf(found)] })
      } finally {
        stop()
      }
    }),
  )

  server.registerTool(
    'search',
    {
      description: 'Search all mail: words, from: to: tag: type: is:unread before: after:',
      inputSchema: z.object({ query: z.string(), limit: z.number().optional() }),
      outputSchema: messages,
      annotations: { readOnlyHint: true },
    },
    as(async (mailbox, { query, limit = 10 }) => {
      const { messages: found } = await mailbox.search(query, { limit })
      return answer(found.length === 0 ? 'nothing found' : fenced(found, false), {
        messages: found.map(factsOf),
      })
    }),
  )

  server.registerTool(
    'agents',
    {
      description: 'Who is here, and which roles they hold. roles/tags: take them on yourself.',
      inputSchema: z.object({ roles: z.array(z.string()).optional(), tags: z.array(z.string()).optional() }),
      outputSchema: z.object({
        text,
        you: z.string(),
        agents: z.array(z.object({ name: z.string() }).loose()),
      }),
    },
    as(async (mailbox, { roles, tags }) => {
      if (roles !== undefined || tags !== undefined)
        await mailbox.update({ addRoles: roles ?? [], addTags: tags ?? [] })
      const agents = (await space.agents()).map(({ name, state, roles: held, tags: worn, note }) => ({
        name,
        state,
        roles: held,
        tags: worn,
        note,
      }))
      const lines = agents.map(({ name, state, roles: held }) =>
        toPrintableLine(`${name}: ${state}${held.length === 0 ? '' : `, ${held.join(', ')}`}`),
      )
      return answer([`you are ${toPrintableLine(mailbox.name)}`, ...lines].join('\n'), {
        you: mailbox.name,
        agents,
      })
    }),
  )

  server.registerTool(
    'owed',
    {
      description: 'What you owe: questions, plans, tasks, acks. all: what anybody owes.',
      inputSchema: z.object({ all: z.boolean().optional() }),
      outputSchema: z.object({ text, owed: z.array(z.object({ id: z.string() }).loose()) }),
      annotations: { readOnlyHint: true },
    },
    as(async (mailbox, { all = false }) => {
      const found = all ? await space.owed() : await mailbox.owed()
      const owed = found.map(({ id, kind, from, by, since, until }) => ({ id, kind, from, by, since, until }))
      const lines = owed.map(({ id, kind, from, by, since }) =>
        toPrintableLine(`${kind} ${id}: ${by} owes ${from}, since ${since}`),
      )
      return answer(lines.length === 0 ? 'nothing is owed' : lines.join('\n'), { owed })
    }),
  )
}

/** What was taken for somebody who has hung up meanwhile is unread again: the next one shall find it. */
async function giveBack(mailbox: Mailbox, taken: readonly InboxMessage[]): Promise<never> {
  for (const { id } of taken) await mailbox.release(id)
  throw new MailboxError('interrupted', 'the call was broken off', { hint: 'nothing was taken' })
}

/** Clients give up on calls that say nothing; those that ask for it hear that we still wait. */
function sayProgress({ mcpReq }: ServerContext): () => void {
  const token = mcpReq._meta?.progressToken
  if (token === undefined) return () => {}
  let progress = 0
  const timer = setInterval(() => {
    progress++
    void mcpReq
      .notify({
        method: 'notifications/progress',
        params: { progressToken: token, progress, message: 'waiting' },
      })
      .catch(() => {})
  }, progressMs)
  return () => clearInterval(timer)
}
