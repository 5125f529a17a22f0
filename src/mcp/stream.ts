/** Whoever leaves so much of a stream unread while more comes is not there any more. */
const maxUnreadBytes = 4 * 1024 * 1024

export interface StreamWatch {
  /** Asked whenever something is sent, a sign of life at the least; false ends the stream. */
  mayGoOn(): boolean
  /** Called once: true when everything was sent, false when somebody has broken it off. */
  over(isWhole: boolean): void
}

/**
 * The same answer, watched while it flows. It is read as it comes, so that what waits for a slow reader is counted
 * here: the SDK puts no bound on it. One answer may be of any size; nothing comes behind that.
 */
export function watched(response: Response, { mayGoOn, over }: StreamWatch): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  let isOver = false
  const end = (isWhole: boolean): void => {
    if (isOver) return
    isOver = true
    over(isWhole)
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
          return breakOff(controller, new Error('an MCP client does not read its stream: it is let go'))
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
      start: (controller) => void flow(controller),
      cancel(reason) {
        end(false)
        return reader.cancel(reason)
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxUnreadBytes }),
  )
  return new Response(body, response)
}
