import { describe, it } from 'vitest'
import { campaignMs, cutOff } from './run.ts'

describe('a journal that was cut off', () => {
  it('loses what was cut off and nothing else, and says so', () => cutOff(), campaignMs)
})
