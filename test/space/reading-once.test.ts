import { expect, it } from 'vitest'
import { needFiles, tempSpace } from '../helpers/temp.ts'

it('reads what it has written once, for the index, and not again for what is due', async () => {
  needFiles()
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  await space.mailbox('bob')
  await ada.count()
  const { journal } = space.core
  const read = journal.read.bind(journal)
  let entries = 0
  journal.read = (...where) => {
    const found = read(...where)
    entries += found.entries.length
    return found
  }
  const [rounds, together] = [20, 50]
  for (let round = 0; round < rounds; round++)
    await Promise.all(Array.from({ length: together }, () => ada.send({ to: 'bob', body: 'on' })))
  await space.runDue()
  // The index has all of them. The directory lacks those of the last decisions at most.
  expect(entries).toBeGreaterThanOrEqual(rounds * together)
  expect(entries).toBeLessThanOrEqual((rounds + 2) * together)
})
