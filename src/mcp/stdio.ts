import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { OpenedSpace } from '../space/api.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { Calls } from './calls.ts'
import { Changes } from './changes.ts'
import { type ClientInfo, Identity } from './identity.ts'
import { honourSubscriptions } from './resources.ts'
import { createMailboxServer } from './server.ts'
import { Tasks } from './tasks.ts'
import { workOf } from './wait-tool.ts'

export interface ServeOptions {
  version: string
  /** The agent to act for. @default the one that runs in the client */
  name: string | undefined
  /** The client that started us. */
  pid: number
  /** The client's own id for its session, where that can be found out. */
  sessionId: () => string | undefined
  /** Runs while the client is served: wakes it when it is idle and mail arrives. */
  wake: (mailboxFor: (client: ClientInfo) => Promise<Mailbox>, signal: AbortSignal) => Promise<void>
}

/** Serves one client on standard input and output until it closes them. */
export async function serve(space: OpenedSpace, options: ServeOptions): Promise<void> {
  const { version, wake } = options
  space.stay()
  const identity = new Identity(space, options)
  const changes = new Changes(space)
  const calls = new Calls()
  const tasks = new Tasks(workOf)
  const serving = serveStdio(async ({ era }) => {
    const server = createMailboxServer(space, { version, identity, calls, tasks })
    await honourSubscriptions(server, changes, era)
    return server
  })
  const ending = new AbortController()
  const waking = wake((client) => identity.mailbox(client), ending.signal)
  // The client closes our standard input when it is done with us.
  await new Promise<void>((resolve) => {
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  ending.abort()
  await serving.close()
  await calls.settled()
  await waking
}
