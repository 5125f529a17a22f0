import { createCipheriv, createDecipheriv, hash, randomBytes, randomFillSync } from 'node:crypto'

/** A key of 32 bytes that texts are sealed with, by AES-256-GCM. */
export type DataKey = Buffer

export const newDataKey = (): DataKey => randomBytes(32)

/** Names a data key and says nothing of it. */
export const idOfKey = (key: DataKey): string => hash('sha256', key, 'hex').slice(0, 16)

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Random bytes for many nonces: to ask for each takes half as long as to seal a short text. */
const nonces = Buffer.alloc(341 * nonceBytes)
let used = nonces.length

function newNonce(): Buffer {
  if (used === nonces.length) {
    randomFillSync(nonces)
    used = 0
  }
  used += nonceBytes
  return nonces.subarray(used - nonceBytes, used)
}

/** A text that only whoever has the key can read, as base64url. It can only be opened as what it is `about`. */
export function sealText(key: DataKey, text: string, about: string): string {
  const nonce = newNonce()
  const cipher = createCipheriv(algorithm, key, nonce)
  cipher.setAAD(Buffer.from(about))
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts).toString('base64url')
}

/** Undefined if it was sealed with another key, or about something else, or was changed since. */
export function openText(key: DataKey, sealed: string, about: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < nonceBytes + tagBytes) return undefined
  const opening = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes))
  opening.setAuthTag(bytes.subarray(-tagBytes))
  opening.setAAD(Buffer.from(about))
  try {
    const text = opening.update(bytes.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([text, opening.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
