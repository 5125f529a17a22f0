import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Mailbox } from '../../src/mod.ts'
import { onStage, won } from '../helpers/scheduled-space.ts'
import { inStorm } from '../helpers/storm.ts'

/**
 * Two doors to one space, operations of several mailboxes at once, and fast-check choosing the order of
 * every step. A failure prints the order and the seed.
 */
const runs = { numRuns: inStorm(1_000, 16) }

describe('a claim has exactly one winner', () => {
  type Way = 'claim' | 'claimNext' | 'check' | 'read' | 'wait' | 'start'
  const way = fc.constantFrom<Way>('claim', 'claimNext', 'check', 'read', 'wait', 'start')
  const attempt = fc.record({ who: fc.nat({ max: 3 }), way, which: fc.nat({ max: 2 }) })

  /** The ids an agent has got by trying. Somebody who reads another's claim gets the text, not the mail. */
  async function take(mailbox: Mailbox, by: Way, id: string): Promise<string[]> {
    switch (by) {
      case 'claim':
        return [(await mailbox.claim(id)).message.id]
      case 'start':
        return [(await mailbox.start(id)).message.id]
      case 'claimNext':
        return [(await mailbox.claimNext('r'))?.message.id ?? []].flat()
      case 'check':
        return (await mailbox.check({ budgetTokens: 100 })).messages.map((message) => message.id)
      case 'wait':
        return [(await mailbox.wait({ timeoutMs: 0 }))?.id ?? []].flat()
      case 'read':
        return (await mailbox.read(id)).state === 'shown' ? [id] : []
    }
  }

  test('whatever the ways and the order in which they are tried', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(attempt, { minLength: 4, maxLength: 10 }),
        async (scheduler, attempts) => {
          await onStage(scheduler, 2, async ({ doors, plain, play }) => {
            const sender = await plain.mailbox('sender')
            const names = ['w0', 'w1', 'w2', 'w3']
            for (const name of names) await plain.join(name, { roles: ['r'] })
            const ids = [
              await sender.send({ to: 'role:r' }),
              await sender.send({ to: 'role:r' }),
              await sender.send({ to: 'role:r' }),
            ].map(({ id }) => id)
            const workers = await Promise.all(names.map((name, at) => doors[at % 2]!.mailbox(name)))
            const got = won(
              await play(
                attempts.map(({ who, way: by, which }) => async () => {
                  const taken = await take(workers[who]!, by, ids[which]!)
                  return taken.map((id) => ({ id, by: names[who]! }))
                }),
              ),
            ).flat()
            for (const id of ids) {
              const winners = new Set(got.filter((one) => one.id === id).map(({ by }) => by))
              const [receipt] = (await plain.show(id)).receipts
              expect(winners.size).toBeLessThanOrEqual(1)
              expect([...winners]).toEqual(receipt!.claimedBy === undefined ? [] : [receipt!.claimedBy])
              expect(receipt!.attempts).toBe(winners.size)
            }
          })
        },
      ),
      runs,
    )
  })

  test('when all holders want the same message', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 6 }), async (scheduler, crowd) => {
        await onStage(scheduler, 2, async ({ doors, plain, play }) => {
          const names = Array.from({ length: crowd }, (_, n) => `w${n}`)
          for (const name of names) await plain.join(name, { roles: ['r'] })
          const { id } = await (await plain.mailbox('sender')).send({ to: 'role:r' })
          const workers = await Promise.all(names.map((name, at) => doors[at % 2]!.mailbox(name)))
          const winners = won(await play(workers.map((worker) => () => worker.claim(id))))
          expect(winners).toHaveLength(1)
          expect((await plain.show(id)).receipts).toMatchObject([
            { claimedBy: winners[0]!.claim.agent, attempts: 1 },
          ])
        })
      }),
      runs,
    )
  })
})

describe('two consoles of one agent', () => {
  test('never get the same message, and together get them all', async () => {
    const addresses = fc.array(fc.constantFrom('ada', 'role:r', 'project:p', 'all'), {
      minLength: 1,
      maxLength: 6,
    })
    const budgets = fc.array(fc.constantFrom(1, 200, 100_000), { minLength: 2, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), addresses, budgets, async (scheduler, to, checks) => {
        await onStage(scheduler, 2, async ({ doors, plain, play }) => {
          await plain.join('ada', { roles: ['r'], tags: ['project:p'] })
          const sender = await plain.mailbox('sender')
          const sent: string[] = []
          for (const address of to) sent.push((await sender.send({ to: address })).id)
          const consoles = await Promise.all(doors.map((door) => door.mailbox('ada')))
          const ends = await play(
            checks.map((budgetTokens, at) => async () => {
              const { messages } = await consoles[at % 2]!.check({ budgetTokens })
              return messages.map(({ id }) => id)
            }),
          )
          const rest = await (await plain.mailbox('ada')).check({ budgetTokens: 100_000 })
          const handed = [...won(ends).flat(), ...rest.messages.map(({ id }) => id)]
          expect(handed.toSorted()).toEqual(sent.toSorted())
        })
      }),
      runs,
    )
  })

  test('that both wait get one message each', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 4 }), async (scheduler, letters) => {
        await onStage(scheduler, 2, async ({ doors, plain, play }) => {
          await plain.join('ada')
          const sender = await plain.mailbox('sender')
          for (let n = 0; n < letters; n++) await sender.send({ to: 'ada' })
          const consoles = await Promise.all([...doors, ...doors].map((door) => door.mailbox('ada')))
          const ends = won(await play(consoles.map((one) => () => one.wait({ timeoutMs: 0 }))))
          const ids = ends.flatMap((message) => (message === null ? [] : [message.id]))
          expect(new Set(ids).size).toBe(ids.length)
          const left = (await consoles[0]!.count()).unread
          expect(ids.length + left).toBe(letters)
        })
      }),
      runs,
    )
  })
})

describe('a key', () => {
  test('makes one message, however many send it at once', async () => {
    const sends = fc.array(fc.record({ door: fc.nat({ max: 1 }), key: fc.constantFrom('k1', 'k2') }), {
      minLength: 2,
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), sends, async (scheduler, plan) => {
        await onStage(scheduler, 2, async ({ doors, plain, play }) => {
          for (const name of ['ada', 'bob']) await plain.join(name)
          const consoles = await Promise.all(doors.map((door) => door.mailbox('ada')))
          const ends = won(
            await play(
              plan.map(
                ({ door, key }) =>
                  () =>
                    consoles[door]!.send({ to: 'bob', key }),
              ),
            ),
          )
          for (const key of new Set(plan.map((one) => one.key))) {
            expect(new Set(ends.filter((message) => message.key === key).map(({ id }) => id)).size).toBe(1)
          }
          const { messages } = await (await plain.mailbox('ada')).sent()
          expect(messages).toHaveLength(new Set(plan.map(({ key }) => key)).size)
        })
      }),
      runs,
    )
  })
})

describe('a withdrawal', () => {
  test('and a reader never both succeed', async () => {
    const to = fc.constantFrom('ada', 'role:r', 'project:p', 'all')
    const by = fc.constantFrom('check', 'read', 'ack', 'wait')
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), to, by, async (scheduler, address, way) => {
        await onStage(scheduler, 2, async ({ doors, plain, play }) => {
          await plain.join('ada', { roles: ['r'], tags: ['project:p'] })
          const sender = await plain.mailbox('sender')
          const { id } = await sender.send({ to: address })
          const reader = await doors[0]!.mailbox('ada')
          const elsewhere = await doors[1]!.mailbox('sender')
          const read = async () => {
            if (way === 'check') return (await reader.check()).messages.length > 0
            if (way === 'wait') return (await reader.wait({ timeoutMs: 0 })) !== null
            if (way === 'read') return (await reader.read(id)).state === 'shown'
            return (await reader.ack(id)).state === 'acked'
          }
          const ends = await play<boolean>([read, () => elsewhere.withdraw(id).then(() => true)])
          const [seen, withdrawn] = ends.map((end) =>
            end.status === 'fulfilled' ? end.value : won([end]).length > 0,
          )
          expect([seen, withdrawn]).toSatisfy(([one, other]: boolean[]) => one !== other)
          const { receipts } = await plain.show(id)
          expect(receipts.some(({ state }) => state === 'withdrawn')).toBe(withdrawn)
        })
      }),
      runs,
    )
  })
})
