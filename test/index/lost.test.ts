import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Survey } from '../../src/space/survey.ts'
import { linesIn, segmentFile } from '../helpers/segments.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

/** A space in which every kind of entry depends on others before it. */
async function sample(): Promise<string> {
  const space = await tempSpace()
  await space.join('ada', { roles: ['builder'], tags: ['project:x'] })
  await space.join('bob', { roles: ['builder'] })
  const [ada, bob] = [await space.mailbox('ada'), await space.mailbox('bob')]
  const question = await ada.send({ to: 'bob', subject: 'question', awaitingResponse: true })
  const task = await ada.send({ to: 'role:builder', subject: 'task', type: 'request', requiresAck: true })
  await bob.send({ to: ['ada', 'project:x', 'all'], subject: 'to many' })
  await bob.check()
  await bob.reply(question.id, { body: 'answer' })
  await bob.ack(task.id)
  await bob.done(task.id)
  await ada.check()
  await ada.send({ to: 'bob', subject: 'unread' })
  await space.close()
  return space.dir
}

/** Asks the space everything. Throws if it cannot answer. */
async function lookAround(dir: string) {
  const space = await tempSpace({ dir })
  // Whoever has done something is known, even if nothing tells any more that it joined.
  const ada = await space.mailbox('ada', { join: false })
  const bob = await space.mailbox('bob', { join: false })
  const { messages } = await ada.search('after:2020-01-01')
  const unread: Record<string, number> = {}
  for (const mailbox of [ada, bob]) {
    await mailbox.inbox({ all: true })
    await mailbox.sent()
    const listed = (await mailbox.inbox({ unread: true })).messages.length
    unread[mailbox.name] = (await mailbox.count()).unread - listed
  }
  for (const { id } of messages) {
    await space.show(id)
    await ada.thread(id)
  }
  await space.stats()
  await space.owed()
  await space.deadLetters()
  await space.agents()
  await space.runDue()
  await new Survey(space.core).overview()
  await new Survey(space.core).replay()
  const unreadable = await space.unreadable()
  // Everybody can go on: what comes to be afterwards is whole.
  const sent = await ada.send({ to: 'bob', subject: 'after' })
  const checked = await bob.check({ budgetTokens: 100_000 })
  const left = (await bob.check()).messages.length
  await space.close()
  return { unread, unreadable, arrived: checked.messages.some(({ id }) => id === sent.id), left }
}

describe('a journal without one of its entries', () => {
  it.each(['gone', 'kept'])('is used like any other, with the index %s', async (index) => {
    const dir = await sample()
    const lines = linesIn(dir)
    const wrong: string[] = []
    for (const [at, line] of lines.entries()) {
      const copy = join(tempDir(), 'space')
      cpSync(dir, copy, { recursive: true })
      const bytes = readFileSync(segmentFile(copy))
      bytes[bytes.indexOf(line) + 60]! ^= 0x01
      writeFileSync(segmentFile(copy), bytes)
      if (index === 'gone')
        for (const file of ['index.db', 'index-search.db']) rmSync(join(copy, file), { force: true })
      const { kind } = JSON.parse(line) as { kind: string }
      try {
        const found = await lookAround(copy)
        expect(found).toMatchObject({ unread: { ada: 0, bob: 0 }, arrived: true, left: 0 })
        const places = found.unreadable.map((one) => [one.segment, one.line])
        if (index === 'gone' || kind === 'message') expect(places).toEqual([[1, at + 1]])
      } catch (error) {
        wrong.push(`without line ${at + 1}, a ${kind}: ${(error as Error).message.slice(0, 300)}`)
      }
    }
    expect(wrong).toEqual([])
  })
})
