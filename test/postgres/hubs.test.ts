import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgentToken, revokeAgentToken, tokensName } from '../../src/hub/tokens.ts'
import { openSpace } from '../../src/space/open.ts'
import { changeShared } from '../../src/space/shared.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { stageHub } from '../helpers/hub.ts'
import { freshAddress, sharedServer } from '../helpers/postgres.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'

async function machine(url: string): Promise<DiskSpace> {
  const space = (await openSpace({ url, dir: tempDir(), settings: testSettings })) as DiskSpace
  onTestFinished(() => space.close())
  return space
}

describe('hubs of one space', () => {
  it('know a token that was just created on another machine, and end those that were revoked there', async () => {
    const url = await freshAddress()
    const [here, there] = [await machine(url), await machine(url)]
    await here.join('ada')
    const hub = await stageHub({ space: there })
    let token = ''
    const status = async () => (await hub.ask('/api/space', { token })).status
    for (let n = 0; n < 20; n++) {
      token = await changeShared(here.dir, tokensName, () => createAgentToken(here.dir, 'ada'))
      expect(await status()).toBe(200)
    }
    expect(await changeShared(here.dir, tokensName, () => revokeAgentToken(here.dir, 'ada'))).toBe(true)
    await expect.poll(status, { timeout: 30_000 }).toBe(401)
  })

  it('take over from each other: followers get every entry once, in order', async () => {
    const url = await freshAddress()
    const spaces = [await machine(url), await machine(url)]
    const ada = await spaces[0]!.mailbox('ada')
    const token = await changeShared(spaces[0]!.dir, tokensName, () =>
      createAgentToken(spaces[0]!.dir, 'watcher', { scopes: ['read-all', 'act', 'read-own'] }),
    )
    // One address in front of both, as a load balancer has it.
    const front = await BreakingProxy.to(0)
    const allowHosts = [`127.0.0.1:${front.port}`]
    const hubs = await Promise.all(spaces.map((space) => stageHub({ space, allowHosts })))
    front.target = hubs[0]!.hub.port
    const remote = await openSpace({ url: `http://127.0.0.1:${front.port}`, token })
    const rounds = inStorm(20, 3)
    const perRound = 10
    const followers = inStorm(50, 5)
    const stop = new AbortController()
    const from = await remote.lastSeq()
    const follow = async () => {
      const seen: number[] = []
      for await (const { entry } of remote.follow({ after: from, signal: stop.signal })) {
        seen.push(entry.seq)
        if (entry.kind === 'message' && entry.message.subject === 'last') return seen
      }
      return seen
    }
    const following = Array.from({ length: followers }, follow)
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < perRound; n++) await ada.send({ to: 'ada', subject: `${round} ${n}`, body: 'x' })
      front.cut()
      front.target = hubs[(round + 1) % 2]!.hub.port
      front.restore()
    }
    await ada.send({ to: 'ada', subject: 'last', body: 'x' })
    const all = await Promise.all(following)
    stop.abort()
    for (const seen of all) expect(seen).toEqual(Array.from(seen, (_, at) => from + 1 + at))
    expect(all[0]!.length).toBeGreaterThanOrEqual(rounds * perRound + 1)
    await remote.close()
  })

  it('say whether they are ready: not while they are cut off, which does not make them unhealthy', async () => {
    const { port } = await sharedServer()
    const proxy = await BreakingProxy.to(port)
    const direct = await freshAddress()
    const space = await machine(
      `${direct.replace(`:${port}/`, `:${proxy.port}/`)}&connect_timeout=1&timeout=1`,
    )
    const hub = await stageHub({ space })
    const ready = async () => (await hub.ask('/ready', { token: null })).status
    expect(await ready()).toBe(200)
    proxy.cut()
    await expect.poll(ready, { timeout: 30_000 }).toBe(503)
    expect((await hub.ask('/health', { token: null })).status).toBe(200)
    proxy.restore()
    await expect.poll(ready, { timeout: 30_000 }).toBe(200)
  })
})
