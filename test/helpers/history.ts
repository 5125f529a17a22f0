import { MailboxError } from '../../src/base/errors.ts'
import type { Mailbox } from '../../src/space/mailbox/api.ts'
import type { DiskSpace } from '../../src/space/space.ts'

/** Numbers that look like chance and are the same in every run (mulberry32). */
export function createChance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const names = ['ada', 'bob', 'cyd', 'eve'] as const
const priorities = ['low', 'normal', 'high', 'urgent'] as const
const addresses = [
  ...names,
  'role:architect',
  'role:tester',
  'project:x',
  'concern:y',
  'all',
  'broadcast:hive',
  ['ada', 'bob'],
  ['role:architect', 'ada', 'project:x'],
  ['role:architect', 'role:tester', 'all'],
  ['all', 'project:x'],
]

/** How often each thing was done; a test looks here for things that never came to pass. */
export type Tally = Record<string, number>

/**
 * A day in the life of a space: mail to every kind of address, claims, releases, retries, withdrawals,
 * keys, exclusions, roles and tags that come and go. What is refused is refused; the rest is history.
 * `clock` moves on with every step.
 */
export async function liveThrough(
  space: DiskSpace,
  steps: number,
  seed: number,
  clock: { now: number },
): Promise<Tally> {
  const chance = createChance(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!
  const tally: Tally = {}
  const ids: string[] = []
  const boxes: Mailbox[] = []
  const roster: Record<string, { roles?: string[]; tags?: string[] }> = {
    ada: { roles: ['architect'], tags: ['project:x', 'swarm:hive'] },
    bob: { roles: ['architect', 'tester'], tags: ['project:x'] },
    cyd: { roles: ['tester'], tags: ['swarm:hive', 'concern:y'] },
    eve: {},
  }
  for (const name of names) boxes.push(await space.mailbox(name, { join: roster[name]! }))

  const someId = () => (chance() < 0.6 ? ids.at(-1 - Math.floor(chance() * 8)) : pick(ids)) ?? 'none'
  const sending = (box: Mailbox) => async () => {
    const optional = {
      ...(chance() < 0.2 ? { exclude: [pick(names)] } : {}),
      ...(chance() < 0.2 ? { key: `key-${Math.floor(chance() * 10)}` } : {}),
      ...(chance() < 0.3 ? { tags: [pick(['project:x', 'concern:y', 'domain:z'])] } : {}),
      ...(chance() < 0.2 ? { ttlMs: 1 + Math.floor(chance() * 20_000) } : {}),
      ...(chance() < 0.1 ? { attachments: ['/tmp/a', '/tmp/b'] } : {}),
      ...(chance() < 0.2 && ids.length > 0 ? { replyTo: someId() } : {}),
      ...(chance() < 0.1 ? { payload: { deep: [1, { a: '\0\ud800' }] } } : {}),
    }
    const body = `body ${Math.floor(chance() * 1_000)} `.repeat(1 + Math.floor(chance() * 30))
    const { id } = await box.send({
      to: pick(addresses),
      subject: `n${ids.length}`,
      body,
      priority: pick(priorities),
      ...optional,
    })
    ids.push(id)
  }
  const doings = (box: Mailbox): [string, number, () => Promise<unknown>][] => [
    ['send', 10, sending(box)],
    ['check', 2, () => box.check({ budgetTokens: 200 })],
    ['read', 2, () => box.read(someId())],
    ['ack', 2, () => box.ack(someId(), { note: 'got it' })],
    ['claim', 3, () => box.claim(someId(), { ttlMs: 1_000 + Math.floor(chance() * 10_000) })],
    ['claimNext', 3, () => box.claimNext(pick(['architect', 'tester']), { ttlMs: 5_000 })],
    ['start', 2, () => box.start(someId())],
    ['done', 2, () => box.done(someId(), { archive: chance() < 0.5 })],
    ['fail', 2, () => box.fail(someId(), { reason: 'could not' })],
    ['retry', 3, () => box.retry(someId())],
    ['release', 3, () => box.release(someId())],
    ['archive', 1, () => box.archive(someId())],
    ['withdraw', 3, () => box.withdraw(someId())],
    [
      'update',
      1,
      () =>
        box.update(
          chance() < 0.5
            ? { addRoles: ['tester'], addTags: ['concern:y'] }
            : { removeRoles: ['tester'], removeTags: ['concern:y'] },
        ),
    ],
    ['rejoin', 1, () => space.join(box.name)],
    ['leave', 0.3, () => box.leave({ frozen: chance() < 0.5 })],
  ]
  for (let step = 0; step < steps; step++) {
    clock.now += Math.floor(chance() * 400)
    const choices = doings(pick(boxes))
    const total = choices.reduce((sum, [, weight]) => sum + weight, 0)
    const dice = chance() * total
    let sum = 0
    const [name, , act] =
      choices.find(([, weight]) => {
        sum += weight
        return dice < sum
      }) ?? choices[0]!
    try {
      await act()
      tally[name] = (tally[name] ?? 0) + 1
    } catch (error) {
      if (!(error instanceof MailboxError) || error.code === 'internal') throw error
      tally['refused'] = (tally['refused'] ?? 0) + 1
    }
  }
  return tally
}
