import { describe, expect, it } from 'vitest'
import { isSignedBy, newSigningKey, signerOf } from '../../src/base/signing.ts'

describe('a signature that was found right', () => {
  const key = newSigningKey()
  const signature = signerOf(key)('Deploy on Friday.')

  it('is right again', () => {
    for (let n = 0; n < 2; n++) expect(isSignedBy(key.public, 'Deploy on Friday.', signature)).toBe(true)
  })

  it.each([
    ['another text', key.public, 'Deploy on Monday.', signature],
    ['another key', newSigningKey().public, 'Deploy on Friday.', signature],
    ['another signature', key.public, 'Deploy on Friday.', signerOf(newSigningKey())('Deploy on Friday.')],
    ['a text that the signature runs into', key.public, '', `${signature}.Deploy on Friday.`],
  ])('is not for %s', (_, publicKey, text, given) => {
    expect(isSignedBy(key.public, 'Deploy on Friday.', signature)).toBe(true)
    expect(isSignedBy(publicKey, text, given)).toBe(false)
  })
})
