import { describe, expect, it } from 'vitest'
import { watched } from '../../src/mcp/stream.ts'
import { untilRight } from '../helpers/wait.ts'

const mebibyte = new Uint8Array(1024 * 1024)

/** An answer that is written by hand. */
function written(delivered?: Promise<boolean>) {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  const said: { over?: boolean; cancelled?: true } = {}
  let isGood = true
  const source = new ReadableStream<Uint8Array>({
    start(one) {
      controller = one
    },
    cancel() {
      said.cancelled = true
    },
  })
  const response = watched(new Response(source, { status: 201, headers: { 'x-kept': 'yes' } }), {
    mayGoOn: () => isGood,
    delivered,
    over(isWhole) {
      said.over = isWhole
    },
  })
  return { response, controller, said, revoke: () => (isGood = false) }
}

describe('an answer that flows', () => {
  it('comes whole, whatever its size, with its status and headers', async () => {
    const { response, controller, said } = written()
    controller.enqueue(new Uint8Array(32 * 1024 * 1024))
    controller.close()
    expect((await response.arrayBuffer()).byteLength).toBe(32 * 1024 * 1024)
    expect([response.status, response.headers.get('x-kept'), said]).toEqual([201, 'yes', { over: true }])
  })

  it('is broken off when nobody reads it while more and more comes', async () => {
    const { response, controller, said } = written()
    for (let n = 0; n < 6; n++) controller.enqueue(mebibyte)
    await untilRight(() => expect(said).toEqual({ over: false, cancelled: true }))
    await expect(response.arrayBuffer()).rejects.toThrow()
  })

  it('goes on for one who reads slowly', async () => {
    const { response, controller, said } = written()
    const reader = response.body!.getReader()
    for (let n = 0; n < 20; n++) {
      controller.enqueue(mebibyte)
      expect((await reader.read()).value?.byteLength).toBe(mebibyte.byteLength)
    }
    controller.close()
    expect(await reader.read()).toMatchObject({ done: true })
    expect(said).toEqual({ over: true })
  })

  it('counts as whole only when the connection has written it', async () => {
    let done!: (isWhole: boolean) => void
    const { response, controller, said } = written(new Promise((resolve) => (done = resolve)))
    controller.close()
    await response.arrayBuffer()
    expect(said).toEqual({})
    done(false)
    await untilRight(() => expect(said).toEqual({ over: false }))
  })

  it('ends when its connection has ended before anybody began to read it', async () => {
    const { response, said } = written(Promise.resolve(false))
    await untilRight(() => expect(said).toEqual({ over: false, cancelled: true }))
    expect(await response.text()).toBe('')
  })

  it('ends when its reader hangs up, and when its reader may read no more', async () => {
    const gone = written()
    await gone.response.body!.cancel()
    expect(gone.said).toEqual({ over: false, cancelled: true })
    const revoked = written()
    revoked.revoke()
    revoked.controller.enqueue(mebibyte)
    expect((await revoked.response.arrayBuffer()).byteLength).toBe(0)
    expect(revoked.said).toEqual({ over: false, cancelled: true })
  })
})
