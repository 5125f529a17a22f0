import { describe, expect, it, onTestFinished } from 'vitest'
import { openSpace } from '../../src/space/open.ts'
import { queuedMail, sendOrQueue, sendQueued } from '../../src/space/outbox.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { appendMessage, messageDraft, subjectsIn } from '../helpers/drafts.ts'
import { freshAddress, sharedServer } from '../helpers/postgres.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, tempPostgres, testSettings } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

/** A space behind a way that can be cut. Sends wait for a short time only. */
async function behindProxy(): Promise<{ proxy: BreakingProxy; url: string; direct: string }> {
  const { port } = await sharedServer()
  const direct = await freshAddress()
  const proxy = await BreakingProxy.to(port)
  const url = `${direct.replace(`:${port}/`, `:${proxy.port}/`)}&timeout=1&connect_timeout=1`
  return { proxy, url, direct }
}

async function open(url: string, dir = tempDir()): Promise<DiskSpace> {
  const space = (await openSpace({ url, dir, settings: testSettings })) as DiskSpace
  onTestFinished(() => space.close())
  return space
}

describe('an answer that is lost', () => {
  it('is found out: what was stored is stored once, and is told to be', async () => {
    const { proxy, url, direct } = await behindProxy()
    const journal = await tempPostgres({ url: url.replace('timeout=1&', 'timeout=20&') })
    const rounds = inStorm(300, 20)
    let cuts = 0
    let isArmed = false
    // The call has come to the server, or its answer was on the way.
    proxy.cutsAfter = (question) =>
      isArmed && question.includes('mailbox.append') && Math.random() < 0.5 && disarm()
    proxy.cutsAnswer = (answer) => isArmed && answer.includes('appended') && Math.random() < 0.8 && disarm()
    const disarm = () => {
      isArmed = false
      cuts++
      return true
    }
    for (let n = 0; n < rounds; n++) {
      isArmed = true
      const { entry, place } = await appendMessage(journal, { subject: `${n}` })
      expect(journal.at(place)).toEqual(entry)
    }
    expect(cuts).toBeGreaterThan(rounds / 4)
    const wanted = Array.from({ length: rounds }, (_, n) => `${n}`)
    expect(await subjectsIn(journal)).toEqual(wanted)
    expect(await subjectsIn(await tempPostgres({ url: direct }))).toEqual(wanted)
  })

  it('of a writer that had its turn is found out as well', async () => {
    const { proxy, url, direct } = await behindProxy()
    const [near, far] = [
      await tempPostgres({ url: url.replace('timeout=1&', 'timeout=20&') }),
      await tempPostgres({ url: direct }),
    ]
    let cuts = 0
    proxy.cutsAfter = (question) => question.includes('COMMIT') && cuts++ < 3
    const all = Array.from({ length: 60 }, (_, n) => `${n}`)
    await Promise.all([
      ...[near, far].map(async (journal, at) => {
        for (const subject of all.filter((_, n) => n % 2 === at)) await appendMessage(journal, { subject })
      }),
    ])
    await Promise.all([near.pull(), far.pull()])
    expect(new Set(await subjectsIn(far))).toEqual(new Set(all))
    expect(await subjectsIn(far)).toHaveLength(all.length)
    expect(await subjectsIn(near)).toEqual(await subjectsIn(far))
  })

  it('to a writer that asks for its turn is waited for as any other', async () => {
    const { proxy, url, direct } = await behindProxy()
    const [near, far] = [
      await tempPostgres({ url: url.replace('timeout=1&', 'timeout=20&') }),
      await tempPostgres({ url: direct }),
    ]
    let cuts = 0
    proxy.cutsAfter = (question) => question.includes('mailbox.turn') && cuts++ < 3
    let isOver = false
    const others = (async () => {
      while (!isOver) await appendMessage(far, { subject: 'far' })
    })()
    try {
      await until('the way was cut', async () => {
        await appendMessage(near, { subject: 'near' })
        return cuts > 3
      })
    } finally {
      isOver = true
    }
    await others
  })

  it('that never comes is told as not known, not as a failure', async () => {
    const { proxy, url } = await behindProxy()
    const journal = await tempPostgres({ url })
    proxy.cutsAfter = (question) => {
      if (!question.includes('mailbox.append')) return false
      proxy.cut()
      return true
    }
    await expect(journal.append(() => [messageDraft()])).rejects.toMatchObject({
      code: 'unreachable',
      message: /whether this was stored is not known/,
    })
    proxy.restore()
    proxy.cutsAfter = () => false
    await appendMessage(journal, { subject: 'later' })
    expect((await subjectsIn(journal)).at(-1)).toBe('later')
  })
})

describe('a machine that is cut off', () => {
  it('answers from its copy and says how old that is, refuses to send, and goes on when it is back', async () => {
    const { proxy, url, direct } = await behindProxy()
    const [here, there] = [await open(url), await open(direct)]
    const [ada, bob] = [await here.mailbox('ada'), await there.mailbox('bob')]
    await bob.send({ to: 'ada', subject: 'before', body: 'x' })
    expect((await ada.inbox()).messages.map(({ subject }) => subject)).toEqual(['before'])
    proxy.cut()
    await bob.send({ to: 'ada', subject: 'meanwhile', body: 'x' })
    expect((await ada.inbox()).messages.map(({ subject }) => subject)).toEqual(['before'])
    expect(here.cutOffWarning).toMatch(/knew \d+ s ago/)
    expect((await here.stats()).warnings.join()).toContain('this machine knew')
    await expect(ada.send({ to: 'bob', body: 'x' })).rejects.toMatchObject({ code: 'unreachable' })
    // It can be opened all the same, by what is in the copy.
    const again = await open(url, here.dir)
    expect(again.id).toBe(there.id)
    expect(again.cutOffWarning).toBeDefined()
    const wait = ada.wait({ timeoutMs: 60_000, from: 'bob' })
    proxy.restore()
    expect((await wait)?.subject).toMatch(/before|meanwhile/)
    await ada.send({ to: 'bob', body: 'back again' })
    expect(here.cutOffWarning).toBeUndefined()
    expect((await bob.inbox()).messages).toHaveLength(1)
  })

  it('declares nobody dead and frees no claim while it sees nothing', async () => {
    const { proxy, url } = await behindProxy()
    const space = await open(url)
    await space.mailbox('ada')
    expect(space.core.endsNothing).toBe(false)
    proxy.cut()
    await space.lastSeq()
    expect(space.core.endsNothing).toBe(true)
    expect(await space.runDue()).toBe(0)
    proxy.restore()
    await until('it is back', () => space.lastSeq().then(() => !space.core.endsNothing))
  })

  it('keeps mail to send later if asked, and sends it once', async () => {
    const { proxy, url, direct } = await behindProxy()
    const [here, there] = [await open(url), await open(direct)]
    const [ada, bob] = [await here.mailbox('ada'), await there.mailbox('bob')]
    proxy.cut()
    const input = { to: 'bob', subject: 'queued', body: 'x' }
    const queued = await sendOrQueue(here, 'ada', input, (keyed) => ada.send(keyed))
    expect(queued).toMatchObject({ queued: true, from: 'ada' })
    // Whether there is such an agent is known when the database is back.
    await sendOrQueue(here, 'ada', { to: 'nobody', subject: 'lost', body: 'x' }, (keyed) => ada.send(keyed))
    expect(queuedMail(here.dir)).toHaveLength(2)
    proxy.restore()
    await here.lastSeq()
    await until('it is back', () => here.lastSeq().then(() => here.cutOffWarning === undefined))
    expect(await sendQueued(here)).toBe(1)
    expect(await sendQueued(here)).toBe(0)
    expect((await bob.inbox()).messages.map(({ subject }) => subject)).toEqual(['queued'])
    expect((await ada.inbox()).messages).toMatchObject([{ subject: 'Not sent: lost' }])
  })
})
