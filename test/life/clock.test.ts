import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createClock } from '../../src/base/clock.ts'
import { type LocalSpace, openSpace } from '../../src/mod.ts'
import type { Box } from '../helpers/cli.ts'
import { needFaketime, wallClockAt } from '../helpers/faketime.ts'
import { hour, minute } from '../helpers/scene.ts'
import { inStorm } from '../helpers/storm.ts'
import { needFiles, tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import { needAlone } from '../helpers/with-desk.ts'
import { boxWith, byHand } from './stage.ts'

/** The wall clock of this process, so far from the right time. */
function setWallClock(offMs: number): void {
  vi.restoreAllMocks()
  const right = Date.now.bind(Date)
  vi.spyOn(Date, 'now').mockImplementation(() => right() + offMs)
  onTestFinished(() => void vi.restoreAllMocks())
}

/** The space as a process that starts now opens it. */
async function openNow(dir: string): Promise<LocalSpace> {
  const space = await openSpace({ dir, settings: { durability: 'os' } })
  onTestFinished(() => space.close())
  return space
}

describe('the clock of a space', () => {
  it('is the wall clock when the space is made, and goes on by itself when that jumps by an hour', () => {
    for (const jump of [hour, -hour]) {
      const dir = tempDir()
      const first = createClock(dir)
      expect(Math.abs(first() - Date.now())).toBeLessThan(1_000)
      const before = first()
      setWallClock(jump)
      const second = createClock(dir)
      for (const clock of [first, second]) expect(Math.abs(clock() - before)).toBeLessThan(2_000)
      vi.restoreAllMocks()
    }
  })

  it('is not moved by a process whose own clock is hours or years off; that process is told', () => {
    for (const jump of [3 * hour, -3 * hour, 20_000 * hour]) {
      const dir = tempDir()
      const before = createClock(dir)
      const note = readFileSync(join(dir, 'clock'), 'utf8')
      const right = before()
      setWallClock(jump)
      const wrong = createClock(dir)
      expect(Math.abs(wrong() - right)).toBeLessThan(2_000)
      expect(readFileSync(join(dir, 'clock'), 'utf8')).toBe(note)
      expect(wrong.doubt()).toMatchObject({ who: 'process' })
      expect(Math.abs(wrong.doubt()!.aheadMs - jump)).toBeLessThan(2_000)
      vi.restoreAllMocks()
      expect(before.doubt()).toBeUndefined()
    }
  })

  it("begins with the machine's time even if the first process has another", () => {
    for (const jump of [3 * hour, -20_000 * hour]) {
      const dir = tempDir()
      const right = Date.now()
      setWallClock(jump)
      expect(Math.abs(createClock(dir)() - right)).toBeLessThan(3_000)
      vi.restoreAllMocks()
      expect(Math.abs(createClock(dir)() - Date.now())).toBeLessThan(3_000)
    }
  })

  it('goes on when the clock of the machine was set; everybody goes by the old one, and is told', () => {
    const dir = tempDir()
    createClock(dir)
    const path = join(dir, 'clock')
    const [boot, offset] = readFileSync(path, 'utf8').trim().split(' ')
    writeFileSync(path, `${boot} ${Number(offset) - 8 * hour}\n`)
    const clock = createClock(dir)
    expect(clock.doubt()).toMatchObject({ who: 'machine' })
    expect(Math.abs(Date.now() - 8 * hour - clock())).toBeLessThan(1_000)
    // Whoever removes the note takes over the new time.
    rmSync(path)
    expect(createClock(dir).doubt()).toBeUndefined()
    expect(Math.abs(Date.now() - 8 * hour - clock())).toBeLessThan(1_000)
  })

  it('goes by the note that the first process left, to the millisecond', () => {
    const dir = tempDir()
    createClock(dir)
    const path = join(dir, 'clock')
    const [boot, offset] = readFileSync(path, 'utf8').trim().split(' ')
    writeFileSync(path, `${boot} ${Number(offset) - 30 * minute}\n`)
    const late = createClock(dir)
    expect(Math.abs(Date.now() - 30 * minute - late())).toBeLessThan(1_000)
  })

  it('a note that is damaged, or of another run of the machine, is replaced', () => {
    const dir = tempDir()
    for (const note of ['', 'nonsense', '00000000-0000-0000-0000-000000000000 12345\n', '\0\0\0\0']) {
      writeFileSync(join(dir, 'clock'), note)
      expect(Math.abs(createClock(dir)() - Date.now())).toBeLessThan(1_000)
      expect(readFileSync(join(dir, 'clock'), 'utf8')).toMatch(/^[0-9a-f-]{36} [\d.]+\n$/)
    }
  })

  it('never goes back within a process', () => {
    const clock = createClock(tempDir())
    let before = clock()
    for (let n = 0; n < 100_000; n++) {
      const now = clock()
      if (now < before) throw new Error(`${before} and then ${now}`)
      before = now
    }
  })
})

describe('a wall clock that jumps by an hour', () => {
  it('+1 h: a live claim of 15 min is not lost, and mail with a life of 30 min does not expire early', async () => {
    const dir = tempDir()
    const before = await openNow(dir)
    const bob = await byHand(before, 'bob', 'r')
    await byHand(before, 'cy', 'r')
    const ada = await byHand(before, 'ada')
    const work = await ada.send({ to: 'role:r' })
    await bob.claim(work.id)
    const { id } = await ada.send({ to: 'bob', ttlMs: 30 * minute })
    setWallClock(hour)
    const after = await openNow(dir)
    for (const space of [before, after]) {
      const cy = await space.mailbox('cy', { join: false })
      expect(await cy.claimNext('r')).toBeNull()
      await expect(cy.claim(work.id)).rejects.toMatchObject({ code: 'conflict' })
      expect((await space.show(id)).receipts).toMatchObject([{ state: 'stored' }])
    }
    expect((await (await after.mailbox('bob', { join: false })).check()).messages).toMatchObject([{ id }])
  })

  it('-1 h: a claim of 1 s still runs out', async () => {
    const dir = tempDir()
    const before = await openNow(dir)
    const bob = await byHand(before, 'bob', 'r')
    await byHand(before, 'cy', 'r')
    const ada = await byHand(before, 'ada')
    const { id } = await ada.send({ to: 'role:r' })
    await bob.claim(id, { ttlMs: 1_000 })
    setWallClock(-hour)
    const after = await openNow(dir)
    const cy = await after.mailbox('cy', { join: false })
    expect(await cy.claimNext('r')).toBeNull()
    const { claim } = await until(() => cy.claimNext('r'))
    expect(claim).toMatchObject({ agent: 'cy', attempt: 2 })
  })

  it('the rate of a sender is neither forgiven nor doubled by it', async () => {
    for (const jump of [hour, -hour]) {
      const dir = tempDir()
      const settings = { durability: 'os', 'limits.ratePerMinute': 3 } as const
      await using before = await openSpace({ dir, settings })
      const ada = await byHand(before, 'ada')
      for (const _ of [1, 2, 3]) await ada.send({ to: 'user' })
      setWallClock(jump)
      await using after = await openSpace({ dir, settings })
      const again = await after.mailbox('ada', { join: false })
      await expect(again.send({ to: 'user' })).rejects.toMatchObject({ code: 'over_limit' })
      vi.restoreAllMocks()
    }
  })
})

describe('commands under a wall clock that is wrong', () => {
  beforeEach(needFaketime)

  const at = (faketime: string) => ({ env: wallClockAt(faketime) })

  async function claimedByBob(
    ttl: string,
  ): Promise<{ box: Box; id: string; claimAt: (time: string) => Promise<number | null> }> {
    const box = await boxWith({}, 'ada', 'bob --role r', 'cy --role r')
    const { message } = await box.json('send', 'role:r', '--body', 'x', '--as', 'ada')
    await box.ok('claim', message.id, '--as', 'bob', '--ttl', ttl)
    const claimAt = async (time: string) =>
      (await box.run(['claim', message.id, '--as', 'cy', '--json'], at(time))).code
    return { box, id: message.id, claimAt }
  }

  it('the clock of those processes is really wrong', async () => {
    const { execFileSync } = await import('node:child_process')
    const env = { ...process.env, ...at('+1h').env }
    const wrong = Number(execFileSync(process.execPath, ['-p', 'Date.now()'], { env, encoding: 'utf8' }))
    expect(wrong - Date.now()).toBeGreaterThan(59 * minute)
  })

  it("+1 h: the claim of 15 min is still bob's", async () => {
    const { box, id, claimAt } = await claimedByBob('15m')
    expect(await claimAt('+1h')).toBe(5)
    expect((await box.json('show', id)).receipts).toMatchObject([{ claimedBy: 'bob', attempts: 1 }])
  })

  it('+1 h: mail with a life of 30 min is handed over, and nobody is told that it expired', async () => {
    const box = await boxWith({}, 'ada', 'bob')
    const { message } = await box.json('send', 'bob', '--body', 'x', '--as', 'ada', '--ttl', '30m')
    const checked = await box.run(['check', '--as', 'bob', '--json'], at('+1h'))
    expect(JSON.parse(checked.stdout).messages).toMatchObject([{ id: message.id }])
    expect((await box.json('inbox', '--as', 'ada')).messages).toEqual([])
  })

  it('-1 h: a claim of 1 s runs out all the same', async () => {
    const { claimAt } = await claimedByBob('1s')
    await until(async () => (await claimAt('-1h')) === 0)
  })

  it('a claim of 1 s that was made an hour ahead runs out as well', async () => {
    const box = await boxWith({}, 'bob --role r', 'cy --role r')
    const { message } = await box.json('send', 'role:r', '--body', 'x')
    await box.run(['claim', message.id, '--as', 'bob', '--ttl', '1s'], at('+1h'))
    await until(async () => (await box.run(['claim', message.id, '--as', 'cy'])).code === 0)
  })

  it.each(inStorm(['+3h', '-3h', '+2y', '-5y'], ['+3h', '-5y']))(
    '%s: it takes no live claim, expires no mail, and leaves the clock of the others alone',
    async (time) => {
      needFiles()
      const { box, id, claimAt } = await claimedByBob('15m')
      const { message } = await box.json('send', 'bob', '--body', 'x', '--as', 'ada', '--ttl', '30m')
      const note = readFileSync(join(box.dir, 'clock'), 'utf8')
      expect(await claimAt(time)).toBe(5)
      expect(readFileSync(join(box.dir, 'clock'), 'utf8')).toBe(note)
      expect((await box.json('show', id)).receipts).toMatchObject([{ claimedBy: 'bob', attempts: 1 }])
      const { messages } = await box.json('check', '--as', 'bob')
      expect(messages).toMatchObject([{ id: message.id }])
      expect((await box.json('inbox', '--as', 'ada')).messages).toEqual([])
    },
  )

  it('it is told so, by a warning and by doctor, and its times are right all the same', async () => {
    needFiles()
    const box = await boxWith({}, 'ada')
    const { stderr, stdout } = await box.run(
      ['send', 'user', '--body', 'x', '--as', 'ada', '--json'],
      at('+3h'),
    )
    expect(stderr).toContain("the clock of this process is 3 h ahead of the space's")
    const { createdAt } = JSON.parse(stdout).message as { createdAt: string }
    expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(minute)
    const doctor = await box.run(['doctor', '--json'], at('-5y'))
    const { checks } = JSON.parse(doctor.stdout) as {
      checks: { check: string; state: string; found: string }[]
    }
    const clock = checks.find(({ check }) => check === 'clock')
    expect(clock).toMatchObject({ state: 'warn' })
    expect(clock!.found).toMatch(/182[56] days behind/)
    expect((await box.run(['check', '--as', 'ada'])).stderr).not.toContain('clock')
  })

  it('it does nothing that is due: not even what really is, which the next one does', async () => {
    needFiles()
    needAlone()
    const box = await boxWith({}, 'ada', 'bob', 'cy --role r', 'dora --role r')
    const { message } = await box.json('send', 'role:r', '--body', 'x', '--as', 'ada')
    await box.ok('claim', message.id, '--as', 'cy', '--ttl', '1ms')
    await box.ok('send', 'bob', '--body', 'x', '--as', 'ada', '--ttl', '1ms')
    const before = await box.ok('log', '--json')
    await box.run(['check', '--as', 'bob'], at('+3h'))
    const claimed = await box.run(['claim', message.id, '--as', 'dora'], at('+3h'))
    expect(claimed.code).toBe(5)
    expect(await box.ok('log', '--json')).toBe(before)
    await box.ok('claim', message.id, '--as', 'dora')
    expect((await box.json('inbox', '--as', 'ada')).messages).toMatchObject([{ type: 'error' }])
  })

  it('where a test wants days to pass for commands, MAILBOX_CLOCK=wall lets them go by their wall clocks', async () => {
    const box = await boxWith({}, 'ada', 'bob')
    await box.ok('send', 'bob', '--body', 'x', '--as', 'ada', '--ttl', '30m')
    const { env } = at('+3h')
    const { stderr } = await box.run(['check', '--as', 'bob'], { env: { ...env, MAILBOX_CLOCK: 'wall' } })
    expect(stderr).not.toContain('clock')
    expect((await box.json('inbox', '--as', 'ada')).messages).toMatchObject([{ type: 'error' }])
  })

  it('what people read of the time is right under the wrong clock, too', async () => {
    const box = await boxWith({}, 'ada', 'bob --role r')
    await box.ok('send', 'role:r', '--as', 'ada', '--subject', 'work')
    const claimed = await box.run(['claim', '--next', '--role', 'r', '--as', 'bob'], at('+1h'))
    expect(claimed.stdout).toMatch(/yours for the next 1[45] min/)
    const agents = await box.run(['agents'], at('+1h'))
    expect(agents.stdout).not.toMatch(/\d+ (min|h) ago/)
  })
})
