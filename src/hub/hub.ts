import { once, setMaxListeners } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import { MailboxError } from '../base/errors.ts'
import { describeRun, onArchived } from '../space/archiving.ts'
import type { DiskSpace } from '../space/space.ts'
import { Survey } from '../space/survey.ts'
import { Admission } from './admit.ts'
import { createApp, type McpDoor } from './app.ts'
import { Callers } from './callers.ts'
import { Connections } from './connections.ts'
import { ConsoleFiles } from './console.ts'
import { Feed } from './feed.ts'
import { Guard } from './guard.ts'
import { defaultLimits, type HubLimits } from './limits.ts'
import { type Logger, LogRate } from './log.ts'
import { createMetrics } from './metrics.ts'
import { Revocation } from './revocation.ts'
import { Streams } from './streams.ts'
import { TokenUse } from './token-use.ts'
import { serveUpgrades } from './upgrade.ts'
import { runWebhook } from './webhook.ts'

export interface StartHubOptions {
  space: DiskSpace
  log: Logger
  version: string
  /** @default '127.0.0.1' */
  host?: string
  /** Only this port. @default 7337, or the next free one */
  port?: number | undefined
  /** Host names that a proxy uses. */
  allowHosts?: readonly string[]
  /** The folder with the console's files. */
  consoleDir?: string | undefined
  mcp?: McpDoor | undefined
  limits?: Partial<HubLimits>
  /** How often streams send a heartbeat. @default 15_000 */
  beatMs?: number
}

export interface Hub {
  /** Where it listens, without a slash at the end. */
  url: string
  port: number
  /** The person's token for programs. */
  token: string
  /** The person's token for the console: good for this run of the hub. */
  consoleToken: string
  /** Ends streams and waits, lets responses finish, and frees the port. The space stays open. */
  stop(): Promise<void>
}

const usualPort = 7337
const portsToTry = 50
/** How long responses may take to finish when the hub stops. */
const graceMs = 5_000
const idleLookMs = 20
const checkingMs = 1_000

/** Starts a hub on an open space. */
export async function startHub(options: StartHubOptions): Promise<Hub> {
  const { space, log, version, host = '127.0.0.1', allowHosts = [] } = options
  const limits = { ...defaultLimits, ...options.limits }
  const stopping = new AbortController()
  // Every wait listens for the end. Many listeners are not a leak.
  setMaxListeners(0, stopping.signal)
  const metrics = createMetrics(space, options.mcp)
  const survey = new Survey(space.core)
  const onProblem = (err: unknown) => log.error({ event: 'feed', err }, 'the journal cannot be read')
  const feed = new Feed(space, survey, { keptChars: limits.keptChars, onProblem })
  const callers = new Callers(space.dir)
  const use = new TokenUse(space.dir)
  await feed.start()
  // The host names to accept are known once the port is.
  let app: ReturnType<typeof createApp> | undefined
  const server = createAdaptorServer({
    fetch: (request, env) => app!.fetch(request, env as never),
    overrideGlobalObjects: false,
    serverOptions: {
      ...{ headersTimeout: limits.headersMs, requestTimeout: 60_000, maxHeaderSize: 16_384 },
      // How often it looks who is late.
      connectionsCheckingInterval: checkingMs,
    },
  }) as Server
  const logRate = new LogRate()
  const connections = new Connections({ limits, metrics, log, logRate })
  connections.watch(server)
  const port = await listen(server, host, options.port).catch(async (error: unknown) => {
    await feed.stop()
    callers.stop()
    throw error
  })
  const guard = new Guard(callers, host, port, allowHosts)
  const parts = {
    ...{
      space,
      survey,
      feed,
      guard,
      revocation: new Revocation(callers),
      use,
      limits,
      metrics,
      log,
      logRate,
      connections,
      version,
    },
    stopping: stopping.signal,
  }
  const streams = new Streams(parts, options.beatMs)
  const admission = new Admission(parts)
  const pages = new ConsoleFiles(options.consoleDir)
  app = createApp({ ...parts, admission, streams, pages, mcp: options.mcp })
  /** Closes connections that are idle: their response is finished, or they never sent anything. */
  function closeIdle(): void {
    server.closeIdleConnections()
    connections.endSilent()
  }
  serveUpgrades(server, admission, streams)

  const keeper = space.runDueEvery()
  const archiving = onArchived(space.core, (run) => {
    log[run.problem === undefined ? 'info' : 'warn']({ event: 'archive', ...run }, describeRun(run))
  })
  const posting = postOutside(space, log, stopping.signal)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    token: callers.person,
    consoleToken: callers.console,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      stopping.abort()
      streams.stop()
      keeper.stop()
      archiving.stop()
      const idle = setInterval(closeIdle, idleLookMs)
      // The server no longer tracks a WebSocket, but one whose client does not answer would keep it from closing.
      const late = setTimeout(() => connections.endAll(), graceMs)
      await closed
      clearInterval(idle)
      clearTimeout(late)
      await Promise.race([posting, sleep(graceMs, undefined, { ref: false })])
      await feed.stop()
      callers.stop()
      use.write()
    },
  }
}

/** Posts mail for the person to the webhook, if the space has one. */
async function postOutside(space: DiskSpace, log: Logger, signal: AbortSignal): Promise<void> {
  const url = space.settings.webhook
  if (url === '') return
  const onProblem = (problem: object) => log.warn({ event: 'webhook', ...problem }, 'not delivered')
  try {
    await runWebhook(space, { url, onProblem }, signal)
  } catch (error) {
    log.error({ event: 'webhook', err: error }, 'the webhook has stopped; restart the hub')
  }
}

/** Listens on the given port, or on the first free one from the default on. */
async function listen(server: Server, host: string, port: number | undefined): Promise<number> {
  for (let at = port ?? usualPort; ; at++) {
    try {
      // `once` also rejects on an error.
      await once(server.listen(at, host), 'listening')
      return (server.address() as AddressInfo).port
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'EADDRINUSE' && port === undefined && at < usualPort + portsToTry) continue
      throw new MailboxError(code === 'EADDRINUSE' ? 'conflict' : 'invalid', `cannot listen: ${message}`, {
        cause: error,
        hint:
          code === 'EADDRINUSE'
            ? 'another program uses the port: choose one with --port N, or omit --port'
            : 'choose an address of this machine with --host, and a port that you may open with --port',
      })
    }
  }
}
