import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { LocalSpace, Settings } from '../../src/mod.ts'
import { openDisk } from '../../src/space/open.ts'
import { placeSpace } from '../helpers/temp.ts'
import { withDesk } from '../helpers/with-desk.ts'

/** What random histories have found, in as few steps as show it. */
const minute = 60_000
const hour = 60 * minute

interface Stage {
  space: LocalSpace
  /** Lets time pass. */
  sleep: (ms: number) => void
  /** Lets time pass and does what is due. */
  pass: (ms: number) => Promise<void>
}

async function stage(settings: Partial<Settings> = {}): Promise<Stage> {
  const dir = await placeSpace(mkdtempSync(join(tmpdir(), 'mailbox-found-')))
  let now = Date.parse('2026-11-15T10:00:00.000Z')
  const options = { dir, settings: { durability: 'os', ...settings }, now: () => now } as const
  const space = await openDisk(options)
  await withDesk(space, options)
  onTestFinished(async () => {
    await space.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const sleep = (ms: number) => {
    now += ms
  }
  const pass = async (ms: number) => {
    sleep(ms)
    await space.runDue()
  }
  return { space, sleep, pass }
}

const box = (space: LocalSpace, name: string) => space.mailbox(name, { join: false })

async function unread(space: LocalSpace, name: string): Promise<{ listed: number; counted: number }> {
  const mailbox = await box(space, name)
  const { messages } = await mailbox.inbox({ unread: true })
  return { listed: messages.length, counted: (await mailbox.count()).unread }
}

/** Ada and bob hold a role; ada has taken its mail, did not ack it, and is shown it again. */
async function shownAgain(to: string[], more: { ttlMs?: number } = {}): Promise<Stage & { id: string }> {
  const { space, sleep, pass } = await stage({ ackTimeoutMs: minute })
  await space.join('ada', { roles: ['r'] })
  await space.join('bob', { roles: ['r'] })
  const { id } = await (await box(space, 'user')).send({ to, requiresAck: true, ...more })
  await (await box(space, 'ada')).claim(id, { ttlMs: hour })
  await pass(minute)
  return { space, sleep, pass, id }
}

test('what is shown again to whoever claimed it is not counted away from another who was named as well', async () => {
  const { space } = await shownAgain(['bob', 'role:r'])
  expect(await unread(space, 'bob')).toEqual({ listed: 1, counted: 1 })
})

test('what is shown again in two ways is counted once, though the role was given up', async () => {
  const { space } = await shownAgain(['ada', 'role:r'])
  await (await box(space, 'ada')).update({ removeRoles: ['r'] })
  expect(await unread(space, 'ada')).toEqual({ listed: 1, counted: 1 })
})

test('there is never less than no mail, though what another was shown again has expired', async () => {
  const { space, sleep } = await shownAgain(['role:r'], { ttlMs: 90_000 })
  sleep(minute)
  expect(await unread(space, 'bob')).toEqual({ listed: 0, counted: 0 })
})

test('mail to several that waits for a frozen agent is counted', async () => {
  const { space, pass } = await stage()
  await space.join('ada')
  await space.join('bob')
  await space.leave('ada', { frozen: true })
  await (await box(space, 'bob')).send({ to: ['ada', 'user'], ttlMs: minute })
  await pass(hour)
  expect(await unread(space, 'ada')).toEqual({ listed: 1, counted: 1 })
})

/** How often something was done with a message for its only recipient. */
async function timesOf(space: LocalSpace, id: string, step: string): Promise<number> {
  const { receipts } = await space.show(id)
  return receipts[0]!.steps.filter(({ state }) => state === step).length
}

test('mail is called stale once, though it was taken and given back since', async () => {
  const { space, pass } = await stage()
  await space.join('ada', { roles: ['r'] })
  const { id } = await (await box(space, 'user')).send({ to: 'role:r', requiresAck: true })
  await pass(2 * hour)
  await (await box(space, 'ada')).claim(id, { ttlMs: minute })
  await pass(minute)
  expect(await timesOf(space, id, 'stale')).toBe(1)
})

test('nobody is told that urgent mail to a group is unread, though somebody put it back', async () => {
  const { space, pass } = await stage()
  await space.join('ada')
  const { id } = await (await box(space, 'user')).send({ to: 'all', priority: 'urgent', requiresAck: true })
  const ada = await box(space, 'ada')
  await ada.read(id)
  await ada.release(id)
  await pass(10 * minute)
  expect(await timesOf(space, id, 'escalated')).toBe(0)
})

test('what fails for the last time right out of the box of a role is a dead letter, not mail nobody can take', async () => {
  const { space, pass } = await stage({ maxAttempts: 2 })
  await space.join('ada', { roles: ['r'] })
  const ada = await box(space, 'ada')
  const { id } = await (await box(space, 'user')).send({ to: 'role:r' })
  await ada.fail(id, { reason: 'no disk' })
  await ada.retry(id)
  await ada.fail(id, { reason: 'still no disk' })
  await pass(0)
  expect((await space.show(id)).receipts).toMatchObject([{ state: 'dead', attempts: 2 }])
})
