/** What a key does on the current page. The page registers a handler while it is shown. */
type Handler = () => void

function intent() {
  let handler: Handler | undefined
  return {
    on: (next: Handler): (() => void) => {
      handler = next
      return () => {
        if (handler === next) handler = undefined
      }
    },
    run: () => handler?.(),
  }
}

const reply = intent()
export const onReplyKey = reply.on
export const runReply = reply.run

const finish = intent()
export const onFinishKey = finish.on
export const runFinish = finish.run
