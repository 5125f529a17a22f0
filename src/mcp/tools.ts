import type { CallToolResult, McpServer, ServerContext, ToolAnnotations } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { subagentRefusal, takesMail } from '../agent/subagent.ts'
import { MailboxError } from '../base/errors.ts'
import { plainLine, plainWord } from '../conversation/fence.ts'
import type { Space } from '../space/api.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { isSubagent, orGiveBack } from './caller.ts'
import type { Calls } from './calls.ts'
import { handle, stepHelp, steps } from './handle.ts'
import { prioritySchema, sendFrom, sendSchema, sendTypes } from './send-tool.ts'
import { offerTasks, type Tasks } from './tasks.ts'
import { answer, factsOf, failure, fenced } from './tool-result.ts'
import { lookFor, type WaitWork, waitFor, waitSchema } from './wait-tool.ts'

const text = z.string()
const one = z.object({ text, id: z.string() }).loose()
/** What each item holds is in docs/mcp.md: a schema of it would cost a model more than it tells. */
const messages = z.object({ text, messages: z.array(z.unknown()) }).loose()

interface Tool<Input> {
  description: string
  inputSchema: z.ZodType<Input>
  outputSchema: z.ZodObject
  annotations?: ToolAnnotations
  run(mailbox: Mailbox, input: Input, context: ServerContext): Promise<CallToolResult>
}

/** Eight short tools: every agent pays for their descriptions in every turn. */
export function registerTools(
  server: McpServer,
  space: Space,
  mailboxOf: (context: ServerContext) => Promise<Mailbox>,
  { calls, tasks }: { calls: Calls; tasks: Tasks<WaitWork> },
): void {
  /** Gives work its mailbox. */
  const called = <Result>(
    name: string,
    context: ServerContext,
    work: (mailbox: Mailbox) => Promise<Result>,
  ): Promise<Result> =>
    calls.run(async () => {
      if (takesMail(name) && isSubagent(context)) throw new MailboxError('not_permitted', subagentRefusal)
      return work(await mailboxOf(context))
    })
  /** Turns errors into results. */
  const tool = <Input extends object>(name: string, { run, ...config }: Tool<Input>) =>
    server.registerTool(name, config, (input: Input, context: ServerContext) =>
      called(name, context, (mailbox) => run(mailbox, input, context)).catch(failure),
    )

  tool('send', {
    description: `Send a message. replyTo without to replies; handoff hands over work. Types: ${sendTypes}.`,
    inputSchema: sendSchema,
    outputSchema: one,
    async run(mailbox, input) {
      const sent = await sendFrom(mailbox, input)
      const warnings = sent.warnings.map((warning) => `\nwarning: ${plainLine(warning)}`).join('')
      const did = sent.scheduled ? `scheduled for ${sent.createdAt}:` : 'sent'
      return answer(`${did} ${sent.id} to ${plainLine(sent.to.join(', '))}${warnings}`, factsOf(sent))
    },
  })

  tool('check', {
    description: 'Read new mail, most urgent first. Marks it as shown and claims mail to your roles.',
    inputSchema: z.object({
      limit: z.number().exactOptional(),
      minPriority: prioritySchema.exactOptional(),
      full: z.boolean().exactOptional(),
    }),
    outputSchema: messages,
    async run(mailbox, { limit = 20, minPriority = 'low', full = false }, context) {
      const { messages: found, remaining } = await mailbox.check({ limit, minPriority })
      await orGiveBack(mailbox, found, context)
      const rest = remaining.unread === 0 ? '' : `\n\n${remaining.unread} more unread: call check again`
      const text = found.length === 0 ? 'no new mail' : fenced(found, full)
      return answer(text + rest, { messages: found.map(factsOf), unread: remaining.unread })
    },
  })

  tool('read', {
    description: 'Read a message in full, or its thread.',
    inputSchema: z.object({ id: z.string(), thread: z.boolean().exactOptional() }),
    outputSchema: messages,
    async run(mailbox, { id, thread = false }) {
      const found = thread ? await mailbox.thread(id) : [await mailbox.read(id)]
      return answer(fenced(found, true), { messages: found.map(factsOf) })
    },
  })

  tool('handle', {
    description: `Record what you did with a message. ${stepHelp}. note: the reason.`,
    inputSchema: z.object({ id: z.string(), step: z.enum(steps), note: z.string().exactOptional() }),
    outputSchema: one,
    annotations: { idempotentHint: true },
    async run(mailbox, { id, step, note }) {
      const done = await handle(mailbox, id, step, note)
      return answer(done.text, { id: done.id, state: done.state })
    },
  })

  tool('wait', {
    description: 'Wait for mail, or until a message of yours is acked or settled. Other mail stays unread.',
    inputSchema: waitSchema,
    outputSchema: messages,
    run: (mailbox, input, context) => waitFor(mailbox, input, context, tasks),
  })
  offerTasks(server, tasks, async (work, context) => {
    const result = await called('wait', context, (mailbox) => lookFor(mailbox, work, context))
    return result && { status: 'completed', result }
  })

  tool('search', {
    description: 'Search all mail by words and from: to: tag: type: is:unread before: after:',
    inputSchema: z.object({ query: z.string(), limit: z.number().exactOptional() }),
    outputSchema: messages,
    annotations: { readOnlyHint: true },
    async run(mailbox, { query, limit = 10 }) {
      const { messages: found } = await mailbox.search(query, { limit })
      return answer(found.length === 0 ? 'no messages found' : fenced(found, false), {
        messages: found.map(factsOf),
      })
    },
  })

  tool('agents', {
    description: 'List agents and their roles. roles, tags: add these to yourself.',
    inputSchema: z.object({
      roles: z.array(z.string()).exactOptional(),
      tags: z.array(z.string()).exactOptional(),
    }),
    outputSchema: z.object({
      text,
      you: z.string(),
      agents: z.array(z.unknown()),
    }),
    async run(mailbox, { roles: addRoles = [], tags: addTags = [] }) {
      if (addRoles.length + addTags.length > 0) await mailbox.update({ addRoles, addTags })
      // Programs show their model these facts as they are, so nothing hides in them or reads as a mark.
      const agents = (await space.agents()).map(({ name, state, roles, tags, note }) => ({
        ...{ name: plainLine(name), state, roles: roles.map(plainLine), tags: tags.map(plainLine) },
        ...(note === undefined ? {} : { note: plainLine(note) }),
      }))
      const lines = agents.map(({ name, state, roles }) =>
        plainLine([`${name}: ${state}`, ...roles].join(', ')),
      )
      return answer([`you are ${plainLine(mailbox.name)}`, ...lines].join('\n'), {
        you: plainLine(mailbox.name),
        agents,
      })
    },
  })

  tool('owed', {
    description: 'List what you owe: answers, tasks, acknowledgements. all: what everyone owes.',
    inputSchema: z.object({ all: z.boolean().exactOptional() }),
    outputSchema: z.object({ text, owed: z.array(z.unknown()) }),
    annotations: { readOnlyHint: true },
    async run(mailbox, { all = false }) {
      const found = all ? await space.owed() : await mailbox.owed()
      const owed = found.map(({ id, kind, from, by, since, until }) => ({
        ...{
          id: plainWord(id) ?? plainLine(id),
          kind,
          from: plainLine(from),
          by: plainLine(by),
          since,
          until,
        },
      }))
      const lines = owed.map(({ id, kind, from, by, since }) =>
        plainLine(`${kind} ${id}: ${by} owes ${from}, since ${since}`),
      )
      return answer(lines.length === 0 ? 'nothing is owed' : lines.join('\n'), { owed })
    },
  })
}
