import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Reply } from '../../src/desk/link.ts'
import type { SpaceCore } from '../../src/space/core.ts'
import { handle } from '../../src/space/desk/handle.ts'
import { sendThrough } from '../../src/space/desk/send-through.ts'
import type { SentMessage } from '../../src/space/mailbox/api.ts'
import { sendDirectly } from '../../src/space/mailbox/sending.ts'
import { onStage } from '../helpers/scheduled-space.ts'
import { inStorm } from '../helpers/storm.ts'

/** What can happen to a question on its way to the desk and back. */
interface Luck {
  /** The desk dies when it has written, before it answers. */
  dies: boolean
  /** The desk goes by a clock that stands still, so that nothing is ever late for it. */
  clockStands: boolean
}

const luck = fc.record<Luck>({ dies: fc.boolean(), clockStands: fc.boolean() })

const named = ({ id, subject }: { id: string; subject: string }) => ({ id, subject })

/**
 * A late desk and senders that are out of patience, in every order: the question, the decision, the write, the answer
 * and the deadline each happen when fast-check says. A failure prints the order and the seed.
 */
test('a message that is asked for at the desk and then sent directly is there once', async () => {
  const runs = { numRuns: inStorm(2_000, 12) }
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(luck, { minLength: 1, maxLength: 3 }),
      async (scheduler, lucks) => {
        await onStage(scheduler, 2, async ({ doors, plain, play }) => {
          const [desk, direct] = doors.map(({ core }) => core) as [SpaceCore, SpaceCore]
          await plain.join('ada')
          await plain.join('bob')
          const answers: Promise<unknown>[] = []
          const send = async ({ dies, clockStands }: Luck, at: number): Promise<SentMessage> => {
            let isOver = false
            const ask = async (
              question: Parameters<Parameters<typeof sendThrough>[0]>[0],
            ): Promise<Reply<SentMessage>> => {
              const deadline = scheduler.schedule(Promise.resolve(), `deadline ${at}`).then(() => {
                isOver = true
                return undefined
              })
              const answer = scheduler
                .schedule(Promise.resolve(), `question ${at} arrives`)
                .then(() =>
                  handle(desk, { n: 1, until: 1, ...question }, () => (isOver && !clockStands ? 2 : 0)),
                )
                .then((value) => (dies ? undefined : { value: value as SentMessage, alone: false }))
                .catch(() => undefined)
                .then((reply) => scheduler.schedule(Promise.resolve(reply), `answer ${at} arrives`))
              answers.push(answer)
              return Promise.race([deadline, answer])
            }
            const input = { to: 'ada', subject: `s${at}`, body: 'hi' }
            const holder = { core: direct, name: 'bob' }
            return sendThrough(ask, 'bob', input, { id: direct.newId(), since: direct.mark() }, (chosen) =>
              sendDirectly(holder, input, chosen),
            )
          }
          const sent = (await play(lucks.map((one, at) => () => send(one, at)))).map((end) => {
            if (end.status === 'rejected') throw end.reason
            return end.value
          })
          // A desk that is still late does nothing any more.
          await scheduler.waitFor(Promise.all(answers))
          const there: { id: string; subject: string; seq: number }[] = []
          for await (const { entry } of plain.entries(0))
            if (entry.kind === 'message') there.push({ ...named(entry.message), seq: entry.seq })
          const told = sent.map((message) => ({ ...named(message), seq: message.seq }))
          expect(there).toEqual(told.toSorted((a, b) => a.seq - b.seq))
          expect((await plain.verify({ deep: true })).problems).toEqual([])
        })
      },
    ),
    runs,
  )
})
