import { createRequire } from 'node:module'
import { join } from 'node:path'
import { context, propagation, trace } from '@opentelemetry/api'
import { expect, it, onTestFinished } from 'vitest'
import { openSpace } from '../../src/space/open.ts'
import { stageHub } from '../helpers/hub.ts'
import { installed } from '../helpers/install.ts'
import { tempSpace } from '../helpers/temp.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

interface Span {
  name: string
  kind: number
  links: { context: { traceId: string; spanId: string } }[]
  parentSpanContext?: { spanId: string }
  attributes: Record<string, unknown>
  status: { code: number }
  spanContext(): { traceId: string; spanId: string }
}

/** The real SDK, which people have in their own programs; what it has recorded so far. */
function recordSpans(): () => Span[] {
  const dir = installed('openTelemetry')
  const sdk = createRequire(join(dir, 'package.json'))('@opentelemetry/sdk-trace-node') as {
    NodeTracerProvider: new (options: object) => { register(): void; shutdown(): Promise<void> }
    SimpleSpanProcessor: new (exporter: object) => object
    InMemorySpanExporter: new () => { getFinishedSpans(): Span[] }
  }
  const exporter = new sdk.InMemorySpanExporter()
  const provider = new sdk.NodeTracerProvider({ spanProcessors: [new sdk.SimpleSpanProcessor(exporter)] })
  provider.register()
  onTestFinished(async () => {
    await provider.shutdown()
    for (const api of [trace, context, propagation]) api.disable()
  })
  return () => exporter.getFinishedSpans()
}

it('carries the trace of a request in the message, also where nobody keeps traces', async () => {
  const stage = await stageHub()
  await stage.space.join('bob')
  const send = async (input: object, header?: string) => {
    const headers = header === undefined ? {} : { traceparent: header }
    return (await stage.act('user', 'send', { to: 'bob', ...input }, { headers })).json.traceparent as unknown
  }
  expect(await send({}, traceparent)).toBe(traceparent)
  expect(await send({})).toBeUndefined()
  expect(await send({}, 'nonsense')).toBeUndefined()
  expect(await send({}, `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`)).toBeUndefined()
  const own = traceparent.replace('0af7', '1af7')
  expect(await send({ traceparent: own }, traceparent)).toBe(own)
  const helped = await stage.act('user', 'request-status', { to: 'bob' }, { headers: { traceparent } })
  expect(helped.json.traceparent).toBe(traceparent)
})

it('makes spans of sending and of handing over, the second linked to the first', {
  timeout: 300_000,
}, async () => {
  const spans = recordSpans()
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob')
  const sent = await trace.getTracer('test').startActiveSpan('work', async (span) => {
    try {
      return await ada.send({ to: 'bob', subject: 'x' })
    } finally {
      span.end()
    }
  })
  await bob.check()
  await expect.poll(() => spans().map(({ name }) => name)).toEqual(['send bob', 'work', 'deliver bob'])
  const [send, work, deliver] = spans() as [Span, Span, Span]
  expect(sent.traceparent).toBe(`00-${send.spanContext().traceId}-${send.spanContext().spanId}-01`)
  expect(send.spanContext().traceId).toBe(work.spanContext().traceId)
  expect(send.attributes).toMatchObject({
    'messaging.system': 'agent-mailbox',
    'messaging.destination.name': 'bob',
  })
  expect(deliver.links.map(({ context: { spanId } }) => spanId)).toEqual([send.spanContext().spanId])
  await expect(ada.send({ to: 'nobody' })).rejects.toMatchObject({ code: 'unknown_recipient' })
  expect(spans().at(-1)).toMatchObject({ name: 'send nobody', status: { code: 2 } })

  // Through a hub: the request is one span, and the send a part of it.
  const stage = await stageHub({ space })
  const remote = await openSpace({ url: stage.url, token: stage.agentToken('ada') })
  onTestFinished(() => remote.close())
  await stage.act('ada', 'send', { to: 'bob' }, { token: stage.agentToken('ada'), headers: { traceparent } })
  const server = spans().findLast(({ name }) => name === 'POST send')!
  const inner = spans().findLast(({ name }) => name === 'send bob')!
  expect(server.spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c')
  expect(server.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
  expect(inner.parentSpanContext?.spanId).toBe(server.spanContext().spanId)
})
