import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Link, SpanContext, SpanKind } from '@opentelemetry/api'

/** `version-traceId-spanId-flags`, as defined by W3C Trace Context. */
const pattern = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** The caller's trace, for when this program does not record traces itself. */
const callerTrace = new AsyncLocalStorage<string>()

/** Where OpenTelemetry's packages find each other; empty unless the program has set up tracing. */
const registered = () =>
  (globalThis as { [key: symbol]: { trace?: unknown } | undefined })[Symbol.for('opentelemetry.js.api.1')]
    ?.trace !== undefined

const kinds = { server: 1, client: 2, producer: 3, consumer: 4 } as const satisfies Record<string, SpanKind>

export interface SpanOptions {
  name: string
  kind: keyof typeof kinds
  attributes: Attributes
  /** Traces of the messages that the span is about. */
  links?: readonly (string | undefined)[]
}

/**
 * Runs work in a span, if this program records traces, and passes it the trace that messages should carry. The
 * package is loaded only then: most processes live for 50 ms and trace nothing.
 */
export function inSpan<T>(
  describe: () => SpanOptions,
  work: (traceparent: string | undefined) => Promise<T>,
  outer?: string,
): Promise<T> {
  const parent = isTraceparent(outer) ? outer : undefined
  if (registered()) return inRecordedSpan(describe(), parent, work)
  return parent === undefined ? work(callerTrace.getStore()) : callerTrace.run(parent, () => work(parent))
}

async function inRecordedSpan<T>(
  options: SpanOptions,
  parent: string | undefined,
  work: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  const { context, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const { name, attributes } = options
  const links: Link[] = (options.links ?? []).flatMap((text) =>
    isTraceparent(text) ? { context: contextOf(text) } : [],
  )
  const active = context.active()
  const outer = parent === undefined ? active : trace.setSpanContext(active, contextOf(parent))
  const span = trace
    .getTracer('agent-mailbox')
    .startSpan(name, { kind: kinds[options.kind] as SpanKind, attributes, links }, outer)
  try {
    const { traceId, spanId, traceFlags } = span.spanContext()
    const own = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
    return await context.with(trace.setSpan(outer, span), () =>
      work(isTraceparent(own) ? own : (parent ?? callerTrace.getStore())),
    )
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message })
    throw error
  } finally {
    span.end()
  }
}

/** Records an event as a span of its own, if this program records traces. */
export function noteSpan(options: SpanOptions): void {
  if (registered()) void inRecordedSpan(options, undefined, async () => {})
}

const isTraceparent = (text: string | undefined): text is string => text !== undefined && pattern.test(text)

function contextOf(text: string): SpanContext {
  const [, traceId = '', spanId = '', flags = '0'] = pattern.exec(text) ?? []
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
