import { describe, expect, it } from 'vitest'
import { Changes } from '../../src/mcp/changes.ts'
import type { Space } from '../../src/space/api.ts'
import { tempSpace } from '../helpers/temp.ts'
import { untilRight } from '../helpers/wait.ts'

type Journal = Pick<Space, 'lastSeq' | 'follow'>

/** A space whose reading can be held up and made to fail. */
const troubled = (space: Space, trouble: Partial<Journal>): Journal => ({
  lastSeq: () => space.lastSeq(),
  follow: (options) => space.follow(options),
  ...trouble,
})

describe('changes', () => {
  it('are not promised before the end of the journal is known, and from then on none is missed', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const changes = new Changes(troubled(space, { lastSeq: () => gate.then(() => space.lastSeq()) }))
    const seen: string[] = []
    const stop = changes.subscribe((uri) => seen.push(uri))
    let isReady = false
    const ready = changes.ready().then(() => (isReady = true))
    await ada.send({ to: 'user', body: 'before' })
    expect(isReady).toBe(false)
    open()
    await ready
    const { threadId } = await ada.send({ to: 'user', body: 'after' })
    await untilRight(() => expect(seen).toEqual([`mailbox://thread/${threadId}`]))
    stop()
  })

  it('go on after the journal could not be read, where they were', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    let fails = 2
    const changes = new Changes(
      troubled(space, {
        async *follow(options) {
          for await (const placed of space.follow(options)) {
            yield placed
            if (fails-- > 0) throw new Error('EIO')
          }
        },
      }),
    )
    const seen: string[] = []
    const stop = changes.subscribe((uri) => seen.push(uri))
    await changes.ready()
    const sent: string[] = []
    for (const body of ['one', 'two', 'three'])
      sent.push(`mailbox://thread/${(await ada.send({ to: 'user', body })).threadId}`)
    await untilRight(() => expect(seen).toEqual(sent))
    stop()
  })

  it('are followed while somebody listens, and no longer', async () => {
    const space = await tempSpace()
    let following = 0
    const changes = new Changes(
      troubled(space, {
        async *follow(options) {
          following++
          try {
            yield* space.follow(options)
          } finally {
            following--
          }
        },
      }),
    )
    const stops = [changes.subscribe(() => {}), changes.subscribe(() => {})]
    await untilRight(() => expect(following).toBe(1))
    stops[0]!()
    expect(changes.size).toBe(1)
    stops[1]!()
    stops[1]!() // Ending it again ends nothing else.
    await untilRight(() => expect(following).toBe(0))
    const stop = changes.subscribe(() => {})
    await untilRight(() => expect(following).toBe(1))
    stop()
    await untilRight(() => expect(following).toBe(0))
  })
})
