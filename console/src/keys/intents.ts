/** What a key means on the page that is open; the page says so while it is there. */
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
