import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { checkInput } from '../api/check-input.ts'
import type { BridgeLine, Reading } from '../api/reading.ts'
import { readings } from '../api/readings.ts'
import { MailboxError } from '../base/errors.ts'
import { inSpan, type SpanOptions } from '../base/trace.ts'
import { readAs } from '../space/vault.ts'
import type { A2aDoor } from './a2a/door.ts'
import type { Admission } from './admit.ts'
import { readJson } from './body.ts'
import { type Caller, readsAll } from './callers.ts'
import { type ConsoleFiles, securityHeaders } from './console.ts'
import { HttpRefusal, notKept, toAnswer } from './errors.ts'
import { checkBridge, checkMailbox, checkScope, looking } from './guard.ts'
import { copyHealth, healthProblem, notReady } from './health.ts'
import { Tally } from './limits.ts'
import { brief } from './log.ts'
import { openApi } from './openapi.ts'
import { operations, type Runnable } from './operations.ts'
import { asCaller } from './outside.ts'
import type { HubParts } from './parts.ts'
import type { Streams } from './streams.ts'
import { tokenLines } from './token-use.ts'

/** MCP over HTTP, for the agent that the token belongs to. */
export interface McpDoor {
  fetch(
    request: Request,
    caller: { agent: string; isStillGood: () => boolean; delivered: Promise<boolean> },
  ): Promise<Response>
  /** How much is open. */
  counts(): { sessions: number; calls: number; listeners: number }
}

export interface AppParts extends HubParts {
  admission: Admission
  streams: Streams
  pages: ConsoleFiles
  mcp: McpDoor | undefined
  a2a: A2aDoor | undefined
  bridges: () => BridgeLine[]
}

type Env = { Bindings: HttpBindings; Variables: { caller: Caller; operation: string } }

/** All routes of the hub. Those of the API come from the tables in `api/`. */
export function createApp(parts: AppParts): Hono<Env> {
  const { space, survey, revocation, admission, feed, streams, limits, metrics, pages, version } = parts
  const { mcp, a2a, stopping } = parts
  const connections = () => ({ tokens: tokenLines(space.dir), bridges: parts.bridges() })
  const app = new Hono<Env>()
  const waits = new Tally('waits', limits.waitsPerToken, 'wait once and share the result')
  const document = openApi(version)

  app.use(async (c, next) => {
    await admission.count(async () => {
      await next()
      return { operation: c.get('operation') ?? 'other', status: c.res.status }
    })
    for (const [name, value] of Object.entries(securityHeaders)) c.header(name, value)
    // The files of the console say for themselves how long they are good for.
    if (!c.res.headers.has('cache-control'))
      for (const [name, value] of Object.entries(notKept)) c.header(name, value)
    if (stopping.aborted) c.header('connection', 'close')
  })
  const withToken: MiddlewareHandler<Env> = async (c, next) => {
    const caller = await admission.admit(c.env.incoming)
    c.set('caller', caller)
    await readAs(caller.agent, next)
  }
  for (const path of ['/api/*', '/mcp', '/metrics']) app.use(path, withToken)
  // Whoever looks for an agent finds its card first.
  app.use('/a2a/*', (c, next) => (c.req.path.endsWith(cardPath) ? next() : withToken(c, next)))
  app.use('/api/*', async (c, next) => {
    checkScope(c.get('caller'), ...looking)
    await next()
  })
  // The rest is public: /health and the files of the console need no token.
  app.use(async (c, next) => {
    if (c.get('caller') === undefined) admission.checkPlace(c.env.incoming)
    await next()
  })
  app.onError((thrown, c) => {
    admission.report(c.env.incoming, thrown)
    const { status, headers, body } = toAnswer(thrown)
    return c.json(body, status as ContentfulStatusCode, headers)
  })

  app.get('/health', async (c) => {
    const error = await healthProblem(parts)
    if (error !== undefined) return c.json({ ok: false, version, error }, 503)
    return c.json({ ok: true, version, ...(await copyHealth(parts)) })
  })
  app.get('/ready', (c) => {
    const reason = notReady(parts)
    return reason === undefined ? c.json({ ok: true }) : c.json({ ok: false, reason }, 503)
  })
  app.get('/metrics', async (c) => {
    c.set('operation', 'metrics')
    checkScope(c.get('caller'), 'metrics', 'read-all')
    return c.body(await metrics.print(), 200, { 'content-type': metrics.contentType })
  })
  app.get('/api/openapi.json', (c) => c.json(document))

  app.get('/api/stream', async (c) => {
    const caller = c.get('caller')
    c.set('operation', 'stream')
    const after = c.req.header('last-event-id') ?? c.req.query('after')
    await streams.serveEvents({ caller, after, mailbox: c.req.query('mailbox') }, c.env.outgoing)
    return RESPONSE_ALREADY_SENT
  })

  for (const [name, reading] of Object.entries<Reading>(readings)) {
    app.get(reading.path.replace(/\{(\w+)\}/g, ':$1'), async (c) => {
      c.set('operation', name)
      const caller = c.get('caller')
      if (reading.ofAll) checkScope(caller, 'read-all')
      const input = checkInput(reading.input, { ...c.req.query(), ...c.req.param() })
      const all = readsAll(caller)
      const look = { space, core: space.core, survey, caller, readsAll: all, version, connections }
      return c.json(await reading.run(look, input))
    })
  }

  app.post('/api/mailboxes/:name/:operation', async (c) => {
    const { name, operation: path } = c.req.param()
    const operation = operations.get(path)
    if (operation === undefined)
      throw new MailboxError('not_found', `a mailbox has no operation ${JSON.stringify(path.slice(0, 60))}`, {
        hint: `operations: ${[...operations.keys()].join(', ')}`,
      })
    c.set('operation', path)
    if (operation.bridges) checkBridge(c.get('caller'), name)
    else checkMailbox(c.get('caller'), name, operation.reads ?? false)
    const input = checkInput(operation.input, await readJson(c.req.raw, limits.bodyBytes))
    // A body can take a while.
    mustStillBeGood(c.get('caller'))
    const span = (): SpanOptions => ({
      name: `POST ${path}`,
      kind: 'server',
      attributes: { 'http.request.method': 'POST', 'http.route': '/api/mailboxes/{mailbox}/{operation}' },
    })
    const work = () => run(c, operation, name, input)
    return c.json(await inSpan(span, work, c.req.header('traceparent')))
  })

  function mustStillBeGood(caller: Caller): void {
    if (!revocation.isStillGood(caller))
      throw new HttpRefusal(401, 'revoked', 'the token was revoked', {
        hint: `create a new one: mailbox token ${caller.agent}`,
        agent: caller.agent,
      })
  }

  async function run(c: Context<Env>, operation: Runnable, name: string, input: unknown) {
    const caller = c.get('caller')
    const isStillGood = () => revocation.isStillGood(caller)
    const call = { space, name, feed, survey, readsAll: readsAll(caller), isStillGood }
    if (!operation.holds) return operation.run({ ...call, signal: stopping }, input)
    const leave = waits.enter(caller)
    const gone = new AbortController()
    const onClose = () => gone.abort()
    const release = revocation.hold(caller, onClose)
    c.env.outgoing.once('close', onClose)
    // It may have gone before we began to listen.
    if (c.env.outgoing.destroyed || stopping.aborted) onClose()
    stopping.addEventListener('abort', onClose)
    metrics.waits.inc()
    try {
      const answer = await operation.run({ ...call, signal: gone.signal }, input)
      mustStillBeGood(caller)
      return answer
    } finally {
      leave()
      release()
      metrics.waits.dec()
      c.env.outgoing.off('close', onClose)
      stopping.removeEventListener('abort', onClose)
    }
  }

  app.all('/mcp', async (c) => {
    const caller = c.get('caller')
    c.set('operation', 'mcp')
    checkScope(caller, 'act')
    if (mcp === undefined) throw notHere('this hub does not serve MCP')
    const { outgoing } = c.env
    const gone = new AbortController()
    // Revoking a token ends what it has open, as elsewhere; what a call took is unread again then.
    const release = revocation.hold(caller, () => {
      gone.abort()
      if (outgoing.headersSent) outgoing.end()
    })
    const delivered = writtenTo(outgoing)
    void delivered.then(release)
    const isStillGood = () => revocation.isStillGood(caller)
    // MCP has its own limit for bodies.
    return asCaller(caller, () =>
      mcp.fetch(withSignal(c.req.raw, gone.signal), { agent: caller.agent, isStillGood, delivered }),
    )
  })

  for (const path of [cardPath, `/a2a/:address${cardPath}`])
    app.get(path, async (c) => {
      const card = await a2a?.card(c.req.raw, c.req.param('address'))
      if (card === undefined) throw notHere('no agent is exposed here')
      return card
    })
  app.all('/a2a/:address/:path{.*}?', async (c) => {
    const caller = c.get('caller')
    c.set('operation', 'a2a')
    checkScope(caller, 'act')
    if (a2a === undefined) throw notHere('no agent is exposed here')
    const { address, path = '' } = c.req.param()
    const leave = waits.enter(caller)
    const gone = new AbortController()
    const release = revocation.hold(caller, () => gone.abort())
    c.env.outgoing.once('close', () => {
      gone.abort()
      leave()
      release()
    })
    const signal = AbortSignal.any([gone.signal, stopping])
    return a2a.fetch(c.req.raw, { address, path, caller, signal })
  })

  app.all('/api/*', (c) => {
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
    const { status, body } = toAnswer(notHere(`there is no ${c.req.method} ${brief(c.req.path)}`))
    return c.json(body, status as ContentfulStatusCode)
  })
  return app
}

const cardPath = '/.well-known/agent-card.json'

const notHere = (message: string) =>
  new MailboxError('not_found', message, { hint: 'see GET /api/openapi.json for all routes' })

/** Resolves when a response is done: whether all of it was handed to the connection. */
function writtenTo(response: HttpBindings['outgoing']): Promise<boolean> {
  const { socket } = response
  return new Promise((resolve) => {
    // It may have gone before we began to listen.
    if (response.destroyed) resolve(false)
    response.once('close', () => resolve(false))
    // Comes first, also when the rest could not be written.
    response.once('finish', () => resolve(socket?.destroyed === false && socket.errored === null))
  })
}

/** The same request, which also ends with a signal. */
const withSignal = (request: Request, signal: AbortSignal): Request =>
  new Request(request.url, {
    method: request.method,
    headers: request.headers,
    signal: AbortSignal.any([request.signal, signal]),
    ...(request.body === null ? {} : { body: request.body, duplex: 'half' }),
  } as RequestInit)
