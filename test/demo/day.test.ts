import { describe, expect, it } from 'vitest'
import { playDemo } from '../../src/demo/run.ts'
import { tempSpace } from '../helpers/temp.ts'

/** So fast that nobody waits for the clock. */
const speed = 1_000_000

describe('the days of the demo', () => {
  it('end in the evening and begin in the morning, and the work goes on without the person', async () => {
    const space = await tempSpace({ settings: { claimTtlMs: 12 * 3_600_000 } })
    const stop = new AbortController()
    const playing = playDemo(space, { speed, seed: 5, agents: 12, daySeconds: 400 }, stop.signal)
    const mornings: number[] = []
    const done: number[] = []
    let accepted = 0
    for await (const { entry } of space.follow({ after: 0, signal: stop.signal })) {
      if (entry.kind !== 'message') continue
      const { subject, type, payload } = entry.message
      if (subject === 'Good morning') mornings.push(entry.seq)
      if (type === 'shutdown_response' && (payload as { accepted: boolean }).accepted) accepted++
      if (type === 'status_update' && subject.endsWith('completed')) done.push(entry.seq)
      // A while into the second day.
      if (mornings.length === 2 && done.filter((seq) => seq > mornings[1]!).length === 2) stop.abort()
    }
    await playing
    expect(done.length).toBeGreaterThan(6)
    expect(accepted).toBeGreaterThan(8)
    const agents = (await space.agents()).filter(({ name }) => name !== 'user')
    expect(agents.filter(({ lastAway }) => lastAway === undefined)).toEqual([])
    const open = (await space.owed()).filter(({ by }) => by !== 'user')
    expect(open.length).toBeLessThan(60)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })
})
