import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'

const extension = 'io.modelcontextprotocol/tasks'
const capability = { extensions: { [extension]: {} } }

/** How soon a client should ask again. Asking holds for a moment, so that it rarely has to. */
const pollIntervalMs = 1_000
/** How many results are kept for a client that asks for them again. */
const keptAtMost = 100

/** A call that was answered with a task. */
export interface TaskWork {
  createdAt: number
  /** How long after that it can be asked for. */
  ttlMs: number
}

export type End =
  | { status: 'completed'; result: CallToolResult }
  | { status: 'failed'; error: { code: number; message: string } }
  | { status: 'cancelled' }

/** How a task has ended; undefined while it has not. What it throws is told to whoever asked, and ends nothing. */
export type Look<Work> = (work: Work, context: ServerContext) => Promise<End | undefined>

/**
 * The tasks of one agent, for clients that take a task in place of a result. Work goes on when a client asks for it and
 * at no other time, so nothing is done for a client that never comes back. Only results are kept, and only for a while.
 */
export class Tasks<Work extends TaskWork> {
  /** What an id stands for. */
  readonly #workOf: (taskId: string) => Work | undefined
  readonly #ends = new Map<string, End & { at: number }>()

  constructor(workOf: (taskId: string) => Work | undefined) {
    this.#workOf = workOf
  }

  /** What a call is answered with that has become a task. */
  created(taskId: string): CallToolResult {
    const text = 'waiting'
    return {
      ...{ resultType: 'task', ...this.#describe(taskId, this.#find(taskId)) },
      // For the schema of the tool.
      ...{ content: [{ type: 'text', text }], structuredContent: { text, messages: [] } },
    }
  }

  async get(taskId: string, look: (work: Work) => Promise<End | undefined>): Promise<object> {
    const work = this.#find(taskId)
    const end = this.#ends.has(taskId) ? undefined : await look(work)
    // It may have been cancelled meanwhile.
    if (end !== undefined && !this.#ends.has(taskId)) this.#end(taskId, end)
    return this.#describe(taskId, work)
  }

  /** What was found by then stays unread. */
  cancel(taskId: string): object {
    this.#find(taskId)
    if (!this.#ends.has(taskId)) this.#end(taskId, { status: 'cancelled' })
    return {}
  }

  /** Takes answers to questions of a task. There are none, so there is nothing to do. */
  update(taskId: string): object {
    this.#find(taskId)
    return {}
  }

  #find(taskId: string): Work {
    const work = this.#workOf(taskId)
    if (work !== undefined && Date.now() < work.createdAt + work.ttlMs) return work
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such task')
  }

  #end(taskId: string, end: End): void {
    this.#ends.set(taskId, { ...end, at: Date.now() })
    const [oldest] = this.#ends.keys()
    if (this.#ends.size > keptAtMost) this.#ends.delete(oldest!)
  }

  #describe(taskId: string, { createdAt, ttlMs }: Work) {
    const { at = createdAt, ...end } = this.#ends.get(taskId) ?? { status: 'working' as const }
    const time = (ms: number) => new Date(ms).toISOString()
    const times = { createdAt: time(createdAt), lastUpdatedAt: time(at) }
    return { taskId, ...end, ...times, ttlMs, pollIntervalMs }
  }
}

/** Whether the client of a call takes a task in place of a result. Each request of the newer protocol says so. */
export function takesTasks({ mcpReq }: ServerContext): boolean {
  const envelope: Record<string, unknown> = { ...mcpReq.envelope }
  const { extensions } = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities
  return extensions?.[extension] !== undefined
}

/** Lets clients ask for tasks. The older protocol has none. */
export function offerTasks<Work extends TaskWork>(
  { server }: McpServer,
  tasks: Tasks<Work>,
  look: Look<Work>,
): void {
  server.registerCapabilities(capability)
  const params = z.looseObject({ taskId: z.string() })
  const offer = (method: string, run: (taskId: string, context: ServerContext) => Promise<object>) =>
    server.setRequestHandler(method, { params }, async ({ taskId }, context) => {
      if (context.mcpReq.envelope === undefined)
        throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found')
      if (!takesTasks(context))
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: capability })
      return { ...(await run(taskId, context)) }
    })
  offer('tasks/get', (taskId, context) => tasks.get(taskId, (work) => look(work, context)))
  offer('tasks/update', async (taskId) => tasks.update(taskId))
  offer('tasks/cancel', async (taskId) => tasks.cancel(taskId))
}
