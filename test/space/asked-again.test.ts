/// <reference types="vite/client" />
import { afterEach, beforeEach, describe } from 'vitest'
import { Projection } from '../../src/index/projection.ts'
import { inStorm } from '../helpers/storm.ts'

/**
 * A question is asked again when a key was wanted for something that is encrypted, or when the index turned out to be
 * broken half-way. Only the last answer counts, so these stories, in which every question is asked twice, go as usual.
 */
const stories = {
  ...import.meta.glob('./{digest,search}.test.ts', { query: '?again' }),
  ...import.meta.glob('../hub/look.test.ts', { query: '?again' }),
  ...inStorm(
    import.meta.glob('./{check,handle,inbox,routing,show,thread-and-sent,wait,watch}.test.ts', {
      query: '?again',
    }),
    {},
  ),
}

const { read } = Projection.prototype

function readTwice<T>(this: Projection, work: () => T, options: Parameters<Projection['read']>[1]): T {
  return read.call(
    this,
    () => {
      work()
      return work()
    },
    options,
  ) as T
}

for (const [file, tell] of Object.entries(stories))
  describe(`with every question asked twice: ${file}`, async () => {
    beforeEach(() => {
      Projection.prototype.read = readTwice
    })
    afterEach(() => {
      Projection.prototype.read = read
    })
    await tell()
  })
