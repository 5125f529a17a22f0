import { setMaxListeners } from 'node:events'
import type { Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import type { BridgeLine } from '../api/reading.ts'
import { systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import { describeRun, onArchived } from '../space/archiving.ts'
import { tryToRecord } from '../space/audit.ts'
import type { DiskSpace } from '../space/space.ts'
import { Survey } from '../space/survey.ts'
import { runCouriers } from './a2a/couriers.ts'
import { Admission } from './admit.ts'
import { createApp, type McpDoor } from './app.ts'
import { Callers } from './callers.ts'
import { hubCertificate } from './certificate.ts'
import { Connections } from './connections.ts'
import { ConsoleFiles } from './console.ts'
import { Feed } from './feed.ts'
import { Guard } from './guard.ts'
import { defaultLimits, type HubLimits } from './limits.ts'
import { keepLink } from './link.ts'
import { listenOnFd, listenOnPort, listenOnSocket } from './listen.ts'
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
  /** A socket that is open already, instead of a host and a port. */
  listenFd?: number | undefined
  /** Host names that a proxy uses. */
  allowHosts?: readonly string[]
  /** The folder with the console's files. */
  consoleDir?: string | undefined
  mcp?: McpDoor | undefined
  /** The bridges of the space, for whoever looks at its settings. @default none */
  bridges?: () => BridgeLine[]
  limits?: Partial<HubLimits>
  /** Speak TLS, with a certificate of the hub's own. @default false */
  tls?: boolean
  /** Post mail to the person to the webhook of the settings. One hub of a space should. @default true */
  webhook?: boolean
  /** How often to look for mail to agents of other systems. @default 1000 */
  lookMs?: number
  /** How often streams send a heartbeat. @default 15_000 */
  beatMs?: number
}

export interface Hub {
  /** Where it listens, without a slash at the end. */
  url: string
  port: number
  /** Where programs on this machine can connect, if that was possible. */
  socket: string | undefined
  /** By what clients know the hub, if it speaks TLS. */
  fingerprint: string | undefined
  /** The person's token for programs. */
  token: string
  /** The person's token for the console: good for this run of the hub. */
  consoleToken: string
  /** What the person opens: the console, with that token. */
  link: string
  /** Ends streams and waits, lets responses finish, and frees the port. The space stays open. */
  stop(): Promise<void>
}

/** How long responses may take to finish when the hub stops. */
const graceMs = 5_000
const idleLookMs = 20
const checkingMs = 1_000

/** Starts a hub on an open space. */
export async function startHub(options: StartHubOptions): Promise<Hub> {
  const { space, log, version, listenFd, allowHosts = [] } = options
  const limits = { ...defaultLimits, ...options.limits }
  const stopping = new AbortController()
  // Every wait listens for the end. Many listeners are not a leak.
  setMaxListeners(0, stopping.signal)
  const metrics = createMetrics(space, options.mcp)
  const survey = new Survey(space.core)
  const onProblem = (err: unknown) => log.error({ event: 'feed', err }, 'the journal cannot be read')
  const feed = new Feed(space, survey, { keptChars: limits.keptChars, onProblem })
  // Tokens decide who the caller is, not the process that runs the hub.
  space.core.actsForAll = true
  const callers = new Callers(space.dir)
  const onRefused = (note: string) =>
    void tryToRecord(space.core, { event: 'token_refused', by: systemAgent, note })
  const use = new TokenUse(space.dir, onRefused)
  const certificate = options.tls ? hubCertificate(space.dir) : undefined
  await feed.start()
  // The host names to accept are known once the port is.
  let app: ReturnType<typeof createApp> | undefined
  const serverWith = (more: object) =>
    createAdaptorServer({
      fetch: (request, env) => app!.fetch(request, env as never),
      overrideGlobalObjects: false,
      ...more,
    }) as Server
  const timeouts = {
    ...{ headersTimeout: limits.headersMs, requestTimeout: 60_000, maxHeaderSize: 16_384 },
    // How often it looks who is late.
    connectionsCheckingInterval: checkingMs,
  }
  const server = serverWith(
    certificate === undefined
      ? { serverOptions: timeouts }
      : {
          createServer: createTlsServer,
          serverOptions: { ...timeouts, ...certificate, handshakeTimeout: limits.headersMs },
        },
  )
  const local = serverWith({ serverOptions: timeouts })
  const servers = [server, local]
  const logRate = new LogRate()
  const connections = new Connections({ limits, metrics, log, logRate })
  connections.watch(server)
  connections.watch(local, { isLocal: true })
  const listen = async ({ host = '127.0.0.1', port } = options) =>
    listenFd === undefined
      ? { host, port: await listenOnPort(server, host, port) }
      : listenOnFd(server, listenFd)
  const { host, port } = await listen().catch(async (error: unknown) => {
    await feed.stop()
    callers.stop()
    throw error
  })
  const scheme = options.tls ? 'https' : 'http'
  const guard = new Guard(callers, { host, port, allowHosts, scheme })
  const revocation = new Revocation(callers)
  const parts = {
    ...{ space, survey, feed, guard, revocation, use, limits, metrics, log, logRate, connections, version },
    stopping: stopping.signal,
  }
  const streams = new Streams(parts, options.beatMs)
  const admission = new Admission(parts)
  const pages = new ConsoleFiles(options.consoleDir)
  // Loaded only where it is used: it is larger than the rest of the hub.
  const a2a =
    space.settings['a2a.expose'] === '' ? undefined : (await import('./a2a/door.ts')).createA2aDoor(parts)
  const { mcp, bridges = () => [] } = options
  app = createApp({ ...parts, admission, streams, pages, mcp, a2a, bridges })
  /** Closes connections that are idle: their response is finished, or they never sent anything. */
  function closeIdle(): void {
    for (const one of servers) one.closeIdleConnections()
    connections.endSilent()
  }
  for (const one of servers) serveUpgrades(one, admission, streams)
  const socket = await listenOnSocket(local, space.dir)

  const keeper = space.runDueEvery()
  const archiving = onArchived(space.core, (run) => {
    log[run.problem === undefined ? 'info' : 'warn']({ event: 'archive', ...run }, describeRun(run))
  })
  const couriers = runCouriers(parts, stopping.signal, options.lookMs).catch((err: unknown) =>
    log.error({ event: 'a2a', err }, 'mail to agents of other systems has stopped; restart the hub'),
  )
  const url = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
  const link = `${url}/#token=${callers.console}`
  const forget = keepLink(space.dir, link)
  const posting = options.webhook === false ? undefined : postOutside(space, log, url, stopping.signal)
  return {
    url,
    port,
    socket,
    fingerprint: certificate?.fingerprint,
    token: callers.person,
    consoleToken: callers.console,
    link,
    async stop() {
      const closed = Promise.all(
        servers.map((one) => new Promise<void>((resolve) => one.close(() => resolve()))),
      )
      forget()
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
      await Promise.race([Promise.all([posting, couriers]), sleep(graceMs, undefined, { ref: false })])
      await feed.stop()
      callers.stop()
      use.write()
    },
  }
}

/** Posts mail for the person to the webhook, if the space has one. */
async function postOutside(space: DiskSpace, log: Logger, hub: string, signal: AbortSignal): Promise<void> {
  const url = space.settings.webhook
  if (url === '') return
  const linkTo = (message?: Message, choice?: string) => {
    if (message === undefined) return `${hub}/needs-you`
    // A link that is opened does nothing yet: whoever has the person's credential confirms it there.
    if (choice !== undefined) return `${hub}/triage/${message.id}?choose=${choice}`
    return `${hub}/threads/${encodeURIComponent(message.threadId)}`
  }
  const onProblem = (problem: object) => log.warn({ event: 'webhook', ...problem }, 'not delivered')
  try {
    await runWebhook(space, { url, onProblem, linkTo }, signal)
  } catch (error) {
    log.error({ event: 'webhook', err: error }, 'the webhook has stopped; restart the hub')
  }
}
