/** A client that leaves this much of a stream unread counts as gone. */
const maxUnreadBytes = 4 * 1024 * 1024

export interface StreamWatch {
  /** Called whenever something is sent, at least a heartbeat. False ends the stream. */
  mayGoOn(): boolean
  /** Called once: true when everything was written to the client, false when the stream was cut off. */
  over(isWhole: boolean): void
  /**
   * Resolves when the connection is done with the stream: whether all of it was written. The server cancels a stream
   * only while it writes it, so one whose client hung up a moment earlier would stay open.
   * @default it is written when it has ended
   */
  delivered?: Promise<boolean> | undefined
}

/**
 * The same response, with its stream watched. It is read as it is produced, so that what waits for a slow reader is
 * counted here: the SDK sets no limit. A single response may have any size, because nothing follows it.
 */
export function watched(response: Response, { mayGoOn, over, delivered }: StreamWatch): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  let isOver = false
  const end = (isWhole: boolean): void => {
    if (isOver) return
    isOver = true
    if (isWhole && delivered !== undefined) void delivered.then(over)
    else over(isWhole)
  }
  const breakOff = (controller: ReadableStreamDefaultController<Uint8Array>, reason: unknown): void => {
    end(false)
    controller.error(reason)
    reader.cancel(reason).catch(() => {})
  }
  const flow = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (isOver) return
        if (done) break
        if ((controller.desiredSize ?? 0) <= 0) {
          return breakOff(controller, new Error('an MCP client does not read its stream and is disconnected'))
        }
        if (!mayGoOn()) {
          end(false)
          await reader.cancel()
          break
        }
        controller.enqueue(value)
      }
      end(true)
      controller.close()
    } catch (error) {
      breakOff(controller, error)
    }
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void flow(controller)
        void delivered?.then((isWhole) => {
          if (isWhole || isOver) return
          end(false)
          reader.cancel().catch(() => {})
          controller.close()
        })
      },
      cancel(reason) {
        end(false)
        return reader.cancel(reason)
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxUnreadBytes }),
  )
  return new Response(body, response)
}
