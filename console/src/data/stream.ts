/** The parts of a text/event-stream event that we use. */
export interface StreamEvent {
  event: string
  data: string
}

/**
 * Yields events as they arrive. EventSource cannot send the bearer header, so we parse the format: lines, with
 * a blank one after each event. `onBytes` is called for everything that arrives, including comments, so that
 * the caller knows the connection is alive.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<StreamEvent[]> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>
  let rest = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      onBytes()
      const parts = (rest + value.replaceAll('\r', '')).split('\n\n')
      rest = parts.pop()!
      const events = parts.map(parseEvent).filter((event) => event.data !== '')
      if (events.length > 0) yield events
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function parseEvent(text: string): StreamEvent {
  const found: StreamEvent = { event: 'message', data: '' }
  const data: string[] = []
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const value = line.slice(colon + 1).replace(/^ /, '')
    if (line.startsWith('event:')) found.event = value
    if (line.startsWith('data:')) data.push(value)
  }
  return { ...found, data: data.join('\n') }
}
