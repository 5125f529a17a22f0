import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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

describe('a new key', () => {
  // Node can wait for itself when it exports a key just as it collects the garbage of the generator that made the key:
  // one of 150 first starts of an MCP server did not answer. A loop of a few thousand exports stops in two of three runs.
  it('is encoded by its generator, wherever one is made', () => {
    const src = new URL('../../src', import.meta.url).pathname
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    )
    const calls = files.flatMap((file) =>
      readFileSync(join(src, file), 'utf8').split('generateKeyPairSync(').slice(1),
    )
    expect(calls).toHaveLength(2)
    for (const call of calls) expect(call.slice(0, 300)).toContain('privateKeyEncoding')
  })

  it('signs what its public half checks', () => {
    const keys = Array.from({ length: 20 }, newSigningKey)
    for (const key of keys) {
      expect([key.public, key.secret].map((half) => Buffer.from(half, 'base64url').length)).toEqual([32, 32])
      expect(isSignedBy(key.public, 'text', signerOf(key)('text'))).toBe(true)
    }
    expect(new Set(keys.map(({ secret }) => secret)).size).toBe(20)
  })
})
