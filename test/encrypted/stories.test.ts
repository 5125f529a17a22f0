/// <reference types="vite/client" />
import { afterEach, beforeEach, describe } from 'vitest'
import { inStorm } from '../helpers/storm.ts'
import { encryptSpaces } from '../helpers/temp.ts'

/**
 * The stories of other folders, told once more in an encrypted space. The query makes each a module of its own. Left out
 * are those that count entries, change lines of an export, or write with the keys of one home and read in another.
 */
const stories = {
  ...import.meta.glob('../space/{check,digest,search,show}.test.ts', { query: '?encrypted' }),
  ...inStorm(
    {
      ...import.meta.glob(
        '../space/{archiving,bad-input,bytes,close,handle,inbox,key,large-roster,names,reading-once,reading-only,routing,thread-and-sent,wait,watch,words}.test.ts',
        { query: '?encrypted' },
      ),
      ...import.meta.glob('../settling/*.test.ts', { query: '?encrypted' }),
      ...import.meta.glob('../life/{claims,dead-letters,edges,limits,receipts,rules}.test.ts', {
        query: '?encrypted',
      }),
      ...import.meta.glob('../agent/{agent,briefing}.test.ts', { query: '?encrypted' }),
      ...import.meta.glob('../cli/{json,story}.test.ts', { query: '?encrypted' }),
      ...import.meta.glob('../property/history.test.ts', { query: '?encrypted' }),
    },
    {},
  ),
}

for (const [file, tell] of Object.entries(stories))
  describe(`in an encrypted space: ${file.slice(3)}`, async () => {
    beforeEach(() => encryptSpaces(true))
    afterEach(() => encryptSpaces(false))
    await tell()
  })
