import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newDataKey, openText, sealText } from '../../src/base/sealing.ts'

const key = newDataKey()
const about = '["agent-mailbox text","space","id","ada"]'

/** Where a sealed text begins in its stream, and where it ends: the random part, and the numbers of its blocks. */
function blocksOf(sealed: string): { stream: string; first: number; last: number } {
  const bytes = Buffer.from(sealed, 'base64url')
  const first = bytes.readUInt32BE(12)
  const blocks = Math.ceil((bytes.length - 32) / 16)
  return { stream: bytes.toString('hex', 0, 12), first, last: first + blocks }
}

describe('a sealed text', () => {
  const texts = [
    '',
    'a',
    'exactly 16 bytes',
    'ä€😀 and a half: \ud83d',
    'x'.repeat(50_000),
    '€'.repeat(100_000),
  ]

  it.each(texts)('opens as what it was', (text) => {
    const sealed = sealText(key, text, about)
    expect(openText(key, sealed, about)).toBe(Buffer.from(text).toString())
    expect(sealed).not.toContain(Buffer.from(text).toString('base64url').slice(0, 40) || '.')
  })

  it.each(texts)('is AES-256-CTR and HMAC-SHA-256 under keys that HKDF makes of the data key', (text) => {
    const derive = (purpose: string) =>
      Buffer.from(hkdfSync('sha256', key, '', `agent-mailbox ${purpose}`, 32))
    const bytes = Buffer.from(sealText(key, text, about), 'base64url')
    const [inside, tag] = [bytes.subarray(0, -16), bytes.subarray(-16)]
    const length = Buffer.alloc(4)
    length.writeUInt32BE(about.length)
    const digest = createHmac('sha256', derive('authentication'))
    digest.update(length).update(about).update(inside)
    expect(tag.equals(digest.digest().subarray(0, 16))).toBe(true)
    const cipher = createDecipheriv('aes-256-ctr', derive('encryption'), inside.subarray(0, 16))
    expect(cipher.update(inside.subarray(16)).toString()).toBe(Buffer.from(text).toString())
  })

  it('does not open with another key, or about something else', () => {
    const sealed = sealText(key, 'for ada', about)
    expect(openText(newDataKey(), sealed, about)).toBeUndefined()
    expect(openText(key, sealed, about.replace('ada', 'bob'))).toBeUndefined()
    // A byte that moves from one part of what has the tag to the next.
    expect(openText(key, sealed, about.slice(0, -1))).toBeUndefined()
  })

  it('does not open when any of its bits is another, or when it is cut', () => {
    const bytes = Buffer.from(sealText(key, 'one byte more than a block', about), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(openText(key, changed.toString('base64url'), about)).toBeUndefined()
    }
    for (let length = 0; length < bytes.length; length++)
      expect(openText(key, bytes.toString('base64url', 0, length), about)).toBeUndefined()
  })

  it('has no block of its stream in common with any other, in use for long, and with other keys', () => {
    const ends = new Map<string, number>()
    const keys = [newDataKey(), newDataKey(), newDataKey()]
    // One of them is longer than a stream is used for.
    const lengths = [0, 1, 15, 16, 17, 300, 70_000, 1_200_000, 5_000]
    for (let n = 0; n < 600; n++) {
      const text = 'x'.repeat(lengths[n % 50 === 7 ? 7 : n % 7]!)
      const { stream, first, last } = blocksOf(sealText(keys[n % 3]!, text, about))
      expect(first).toBe(ends.get(stream) ?? 0)
      ends.set(stream, last)
    }
    expect(ends.size).toBeGreaterThan(keys.length)
  })
})
