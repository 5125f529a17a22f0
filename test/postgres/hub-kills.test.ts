import { expect, it, onTestFinished } from 'vitest'
import { createAgentToken, tokensName } from '../../src/hub/tokens.ts'
import { openSpace } from '../../src/space/open.ts'
import { changeShared } from '../../src/space/shared.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { freePort, freshAddress } from '../helpers/postgres.ts'
import { startScript } from '../helpers/processes.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { letPass } from '../helpers/wait.ts'

const program = new URL('../../dist/cli.cjs', import.meta.url)

/** `mailbox serve` on a machine of its own. */
async function hubAt(url: string, front: number) {
  const port = String(await freePort())
  const dir = tempDir()
  const start = async () => {
    const hub = startScript(
      program,
      ['serve', '--port', port, '--allow-host', `127.0.0.1:${front}`, '--no-webhook'],
      { env: { MAILBOX_SPACE: url, HOME: dir, XDG_CACHE_HOME: dir } },
    )
    await hub.line(/^open /)
    return hub
  }
  let hub = await start()
  return {
    port: Number(port),
    async restart() {
      hub.kill('SIGKILL')
      await hub.exit
      hub = await start()
    },
  }
}

it('followers behind one address get every entry once while one of two hubs is killed', {
  timeout: 900_000,
}, async () => {
  const kills = campaignSize('hubs', 24, 2)
  const campaign = new Campaign('hubs', kills)
  const url = await freshAddress()
  const space = (await openSpace({ url, dir: tempDir(), settings: testSettings })) as DiskSpace
  onTestFinished(() => space.close())
  const ada = await space.mailbox('ada')
  const front = await BreakingProxy.to(0)
  const hubs = [await hubAt(url, front.port), await hubAt(url, front.port)]
  front.targets = hubs.map(({ port }) => port)
  const create = () => createAgentToken(space.dir, 'watcher', { scopes: ['read-all', 'act', 'read-own'] })
  const token = await changeShared(space.dir, tokensName, create)
  const remote = await openSpace({ url: `http://127.0.0.1:${front.port}`, token })
  onTestFinished(() => remote.close())
  const from = await remote.lastSeq()
  const stop = new AbortController()
  const follow = async () => {
    const seen: number[] = []
    for await (const { entry } of remote.follow({ after: from, signal: stop.signal })) {
      seen.push(entry.seq)
      if (entry.kind === 'message' && entry.message.subject === 'last') break
    }
    return seen
  }
  const following = Array.from({ length: inStorm(50, 8) }, follow)
  let isOver = false
  let sent = 0
  const writing = (async () => {
    for (; !isOver; sent++) {
      await ada.send({ to: 'ada', subject: `${sent}`, body: 'x' })
      await letPass(10)
    }
  })()
  for (let kill = 0; kill < kills; kill++) {
    await Promise.all([hubs[kill % 2]!.restart(), letPass(inStorm(5_000, 0))])
    campaign.progress(kill + 1)
  }
  isOver = true
  await writing
  await ada.send({ to: 'ada', subject: 'last', body: 'x' })
  const all = await Promise.all(following)
  stop.abort()
  const end = await space.lastSeq()
  const wanted = Array.from({ length: all[0]!.length }, (_, at) => from + 1 + at)
  for (const seen of all) expect(seen).toEqual(wanted)
  expect(all[0]!.length).toBeGreaterThan(sent)
  campaign.end({
    ...{ 'hubs killed': kills, followers: all.length, 'entries until the end': end - from },
    ...{ 'entries followed': all.reduce((sum, seen) => sum + seen.length, 0), 'missing or doubled': 0 },
  })
})
