import { describe, it } from 'vitest'
import { campaignMs, flipBits } from './run.ts'

// Half of the bits; the other half is in the file beside, so that two processors work on it.
describe('a journal with one flipped bit', () => {
  it('loses at most one record, and says so', () => flipBits(1, 2), campaignMs)
})
