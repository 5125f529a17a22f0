import { expect, it } from 'vitest'
import { linesIn, withOwnSum, writeLines } from '../helpers/segments.ts'
import { tempSpace } from '../helpers/temp.ts'

it('begins a new segment before it writes to a journal of an older format', async () => {
  const space = await tempSpace()
  await space.close()
  const [header] = linesIn(space.dir)
  writeLines(space.dir, [withOwnSum(header!.replace('"format":2', '"format":1'))])
  const again = await tempSpace({ dir: space.dir })
  await again.join('ada')
  await again.join('bob')
  expect(JSON.parse(linesIn(space.dir, 2)[0]!)).toMatchObject({
    kind: 'segment',
    format: 2,
    reason: 'upgraded',
  })
  expect(linesIn(space.dir, 1)).toHaveLength(1)
  expect(linesIn(space.dir, 2)).toHaveLength(3)
})
