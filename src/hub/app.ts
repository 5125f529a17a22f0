import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { type Reading, readings } from '../api/readings.ts'
import { MailboxError } from '../base/errors.ts'
import { inSpan, type SpanOptions } from '../base/trace.ts'
import type { Survey } from '../query/survey.ts'
import type { Space } from '../space/space.ts'
import { checkShape, readJson } from './body.ts'
import { type ConsoleFiles, securityHeaders } from './console.ts'
import { HttpRefusal, toAnswer } from './errors.ts'
import type { Feed } from './feed.ts'
import { type Credentials, checkMailbox, type Guard } from './guard.ts'
import { type HubLimits, Rate, Tally } from './limits.ts'
import { brief, type Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import { openApi } from './openapi.ts'
import { operations, type Runnable } from './operations.ts'
import type { Streams } from './streams.ts'
import type { Caller } from './tokens.ts'

/** MCP over HTTP, for whoever the token names. */
export interface McpDoor {
  fetch(request: Request, caller: { agent: string; isStillGood: () => boolean }): Promise<Response>
  /** What is open. */
  counts(): { sessions: number; calls: number; listeners: number }
}

export interface AppOptions {
  space: Space
  survey: Survey
  guard: Guard
  feed: Feed
  streams: Streams
  limits: HubLimits
  metrics: Metrics
  log: Logger
  pages: ConsoleFiles
  version: string
  mcp?: McpDoor | undefined
  /** Aborted when the hub stops. */
  stopping: AbortSignal
}

type Env = { Bindings: HttpBindings; Variables: { caller: Caller; operation: string } }
type Ctx = Context<Env>

export const credentialsOf = (headers: NodeJS.Dict<string | string[]>): Credentials => {
  const one = (name: string) => {
    const value = headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  return {
    host: one('host'),
    origin: one('origin'),
    authorization: one('authorization'),
    protocols: one('sec-websocket-protocol'),
  }
}

/** All routes of the hub. They are made from the tables of `wire/`. */
export function createApp(options: AppOptions): Hono<Env> {
  const { space, survey, guard, feed, streams, limits, metrics, log, pages, version, mcp, stopping } = options
  const app = new Hono<Env>()
  const rate = new Rate(limits.requestsPerSecond, limits.requestBurst)
  const waits = new Tally()
  const sweeping = setInterval(() => rate.sweep(), 60_000)
  sweeping.unref()
  stopping.addEventListener('abort', () => clearInterval(sweeping))
  const document = openApi(version)

  app.use(async (c, next) => {
    const started = performance.now()
    metrics.inFlight.inc()
    try {
      await next()
    } finally {
      metrics.inFlight.dec()
      const operation = c.get('operation') ?? 'other'
      metrics.requests.inc({ operation, status: c.res.status })
      if (!waiting.has(operation))
        metrics.seconds.observe({ operation }, (performance.now() - started) / 1_000)
    }
    for (const [name, value] of Object.entries(securityHeaders)) c.header(name, value)
    if (stopping.aborted) c.header('connection', 'close')
  })
  app.use(async (c, next) => {
    guard.checkPlace(credentialsOf(c.env.incoming.headers))
    await next()
  })

  app.onError((thrown, c) => {
    const { status, body, error } = toAnswer(thrown)
    if (thrown instanceof HttpRefusal) refuse(c, thrown)
    else if (error.code === 'internal') log.error({ err: thrown, path: c.req.path }, 'failed')
    if (status === 413) c.header('connection', 'close')
    if (status === 429) c.header('retry-after', '1')
    if (status === 401) c.header('www-authenticate', 'Bearer')
    for (const [name, value] of Object.entries(securityHeaders)) c.header(name, value)
    return c.json(body, status as ContentfulStatusCode)
  })

  /** One line for whoever was not let in. What strangers wrote is cut short, and tokens are not among it. */
  function refuse(c: Ctx, { reason, status }: HttpRefusal): void {
    const { host, origin } = credentialsOf(c.env.incoming.headers)
    const from = c.env.incoming.socket.remoteAddress
    metrics.refused.inc({ reason })
    log.warn(
      {
        ...{ event: 'refused', reason, status, method: c.req.method, path: brief(c.req.path), from },
        ...{ host: brief(host), origin: brief(origin), agent: c.get('caller')?.agent },
      },
      'refused',
    )
  }

  function letIn(c: Ctx): Caller {
    const caller = guard.checkToken(credentialsOf(c.env.incoming.headers))
    c.set('caller', caller)
    if (!rate.take(caller.digest)) {
      const error = new MailboxError('over_limit', 'too many requests with this token', {
        hint: `${limits.requestsPerSecond} a second are the limit: wait a moment, or follow the stream instead of asking`,
      })
      throw new HttpRefusal(429, 'rate', error)
    }
    return caller
  }

  app.get('/health', (c) => c.json({ ok: true, version }))
  app.get('/metrics', async (c) => {
    letIn(c)
    c.set('operation', 'metrics')
    return c.body(await metrics.print(), 200, { 'content-type': metrics.contentType })
  })
  app.get('/api/openapi.json', (c) => {
    letIn(c)
    return c.json(document)
  })

  app.get('/api/stream', async (c) => {
    const caller = letIn(c)
    c.set('operation', 'stream')
    const after = c.req.header('last-event-id') ?? c.req.query('after')
    await streams.serveEvents({ caller, after, mailbox: c.req.query('mailbox') }, c.env.outgoing)
    return RESPONSE_ALREADY_SENT
  })

  for (const [name, reading] of Object.entries<Reading>(readings)) {
    app.get(reading.path.replace(/\{(\w+)\}/g, ':$1'), async (c) => {
      const caller = letIn(c)
      c.set('operation', name)
      const query = checkShape(reading.query, { ...c.req.query(), ...c.req.param() })
      return c.json(await reading.run({ space, survey, caller, version }, query))
    })
  }

  app.post('/api/mailboxes/:name/:operation', async (c) => {
    const caller = letIn(c)
    const { name, operation: path } = c.req.param()
    const operation = operations.get(path)
    if (operation === undefined) throw unknownOperation(path)
    c.set('operation', path)
    checkMailbox(caller, name, operation.reads ?? false)
    const input = checkShape(operation.input, await readJson(c.req.raw, limits.bodyBytes))
    const span: SpanOptions = {
      name: `POST ${path}`,
      kind: 'server',
      parent: c.req.header('traceparent'),
      attributes: { 'http.request.method': 'POST', 'http.route': '/api/mailboxes/{mailbox}/{operation}' },
    }
    return c.json(await inSpan(span, () => run(c, operation, name, input)))
  })

  async function run(c: Ctx, operation: Runnable, name: string, input: unknown) {
    if (!operation.waits) return operation.run({ space, name, signal: stopping, feed, survey }, input)
    const leave = waits.enter(c.get('caller').digest, limits.waitsPerToken)
    if (leave === undefined) {
      const error = new MailboxError('over_limit', `this token has ${limits.waitsPerToken} waits open`, {
        hint: 'wait once and share what comes',
      })
      throw new HttpRefusal(429, 'waits', error)
    }
    const gone = new AbortController()
    const onClose = () => gone.abort()
    c.env.outgoing.once('close', onClose)
    // It may have gone before we listened.
    if (c.env.outgoing.destroyed || stopping.aborted) onClose()
    stopping.addEventListener('abort', onClose)
    metrics.waits.inc()
    try {
      return await operation.run({ space, name, signal: gone.signal, feed, survey }, input)
    } finally {
      leave()
      metrics.waits.dec()
      c.env.outgoing.off('close', onClose)
      stopping.removeEventListener('abort', onClose)
    }
  }

  app.all('/mcp', async (c) => {
    const caller = letIn(c)
    c.set('operation', 'mcp')
    if (mcp === undefined) throw notHere('this hub serves no MCP')
    // Its bodies have a limit of their own. A token that is taken back ends what it has open, as elsewhere.
    return mcp.fetch(c.req.raw, { agent: caller.agent, isStillGood: () => guard.isStillGood(caller) })
  })

  app.all('/api/*', (c) => {
    letIn(c)
    throw notHere(`there is nothing at ${brief(c.req.path)}`)
  })

  app.get('*', (c) => {
    const file = pages.file(c.req.path)
    if (file !== undefined) return file
    const wantsPage = c.req.header('accept')?.includes('text/html') ?? false
    if (wantsPage && !c.req.path.startsWith('/assets/')) return pages.page()
    throw notHere(`there is nothing at ${brief(c.req.path)}`)
  })
  app.notFound((c) => {
    const { status, body } = toAnswer(notHere(`${c.req.method} is not for ${brief(c.req.path)}`))
    return c.json(body, status as ContentfulStatusCode)
  })
  return app
}

const waiting = new Set([...operations.values()].filter(({ waits }) => waits).map(({ path }) => path))
waiting.add('stream').add('mcp')

const notHere = (message: string) =>
  new MailboxError('not_found', message, { hint: 'see GET /api/openapi.json for what there is' })

const unknownOperation = (path: string) =>
  new MailboxError('not_found', `a mailbox has no operation ${JSON.stringify(path.slice(0, 60))}`, {
    hint: `there are ${[...operations.keys()].join(', ')}`,
  })
