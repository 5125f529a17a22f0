import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Link, SpanKind } from '@opentelemetry/api'

/** `version-traceId-spanId-flags`, as W3C Trace Context writes it. */
const pattern = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** The trace of whoever asked, where nothing here keeps traces itself. */
const asked = new AsyncLocalStorage<string>()

/** Where OpenTelemetry's packages find one another; empty unless the program has set one up. */
const registered = () =>
  (globalThis as { [key: symbol]: { trace?: unknown } | undefined })[Symbol.for('opentelemetry.js.api.1')]
    ?.trace !== undefined

const kinds = { server: 1, client: 2, producer: 3, consumer: 4 } as const satisfies Record<string, SpanKind>

export interface SpanOptions {
  name: string
  kind: keyof typeof kinds
  attributes: Attributes
  /** Traces of the messages it is about. */
  links?: readonly (string | undefined)[]
  /** The trace that it continues, from outside. */
  parent?: string | undefined
}

/**
 * Runs work in a span, if this program keeps traces, and tells it the trace that messages should carry. The
 * package is loaded only then: most processes live for 50 ms and trace nothing.
 */
export async function inSpan<T>(
  options: SpanOptions,
  work: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  const parent = isTraceparent(options.parent) ? options.parent : undefined
  if (!registered()) {
    return parent === undefined ? work(asked.getStore()) : asked.run(parent, () => work(parent))
  }
  const { context, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const contextOf = (text: string) => ({ ...partsOf(text), isRemote: true })
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
      work(isTraceparent(own) ? own : (parent ?? asked.getStore())),
    )
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message })
    throw error
  } finally {
    span.end()
  }
}

/** Notes that something happened, in a span of its own, for those who keep traces. */
export function noteSpan(options: SpanOptions): void {
  if (registered()) void inSpan(options, async () => {})
}

const isTraceparent = (text: string | undefined): text is string => text !== undefined && pattern.test(text)

function partsOf(text: string): { traceId: string; spanId: string; traceFlags: number } {
  const [, traceId = '', spanId = '', flags = '0'] = pattern.exec(text) ?? []
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) }
}
