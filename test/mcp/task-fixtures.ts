import { randomUUID } from 'node:crypto'
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type End, offerTasks, Tasks, type TaskWork, takesTasks } from '../../src/mcp/tasks.ts'
import { letPass } from '../helpers/wait.ts'

interface Job extends TaskWork {
  end: Promise<End>
}

const jobs = new Map<string, Job>()
const tasks = new Tasks((taskId) => jobs.get(taskId))
const lookMs = 200

const said = (text: string, isError = false): CallToolResult => ({
  ...{ content: [{ type: 'text', text }], isError },
})
const completed = (result: CallToolResult): End => ({ status: 'completed', result })

function begin(end: Promise<End>): CallToolResult {
  const taskId = randomUUID()
  jobs.set(taskId, { createdAt: Date.now(), ttlMs: 60_000, end })
  return tasks.created(taskId)
}

/** Tools that become tasks, as the scenarios of the tasks extension describe them. */
export function registerTasks(server: McpServer): void {
  offerTasks(server, tasks, ({ end }) => Promise.race([end, letPass(lookMs).then(() => undefined)]))
  server.registerTool(
    'greet',
    { description: 'Greets', inputSchema: z.object({ name: z.string() }) },
    ({ name }) => said(`Hello, ${name}!`),
  )
  server.registerTool(
    'slow_compute',
    { description: 'Takes its time', inputSchema: z.object({ seconds: z.number() }).loose() },
    async ({ seconds }, context) => {
      const computed = letPass(seconds * 1_000).then(() => said(`computed for ${seconds} s`))
      return takesTasks(context) ? begin(computed.then(completed)) : computed
    },
  )
  server.registerTool('failing_job', { description: 'Fails' }, () =>
    begin(letPass(1_000).then(() => completed(said('it failed', true)))),
  )
  server.registerTool('protocol_error_job', { description: 'Breaks' }, () => {
    const error = { code: -32_603, message: 'it broke' }
    return begin(letPass(lookMs).then(() => ({ status: 'failed', error })))
  })
}
