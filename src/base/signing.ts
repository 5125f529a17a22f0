import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

/** An Ed25519 key. Both halves are 32 bytes in base64url. */
export interface SigningKey {
  public: string
  secret: string
}

/**
 * The generator encodes the key itself. To export it afterwards can deadlock: Node holds the lock of the key while
 * it does, and if it collects garbage just then, the generator that made the key waits for the same lock.
 */
export function newSigningKey(): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  return { public: keyIn(publicKey), secret: keyIn(privateKey) }
}

/** In both encodings the key is the last 32 bytes. */
const keyIn = (der: Buffer): string => der.subarray(-32).toString('base64url')

/** Signs texts with one key. */
export function signerOf({ public: x, secret: d }: SigningKey): (text: string) => string {
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x, d } })
  return (text) => sign(null, Buffer.from(text), key).toString('base64url')
}

const publicKeys = new Map<string, KeyObject>()
const keysKept = 1_000

/** Digests of signatures that were found right, with their texts and keys: checking one takes far longer than a digest. */
const checked = new Set<string>()
const checkedKept = 20_000

/** Whether a signature is of this text, by the key with this public half. */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  const digest = hash('sha256', `${publicKey}.${signature}.${text}`, 'base64url')
  if (checked.has(digest)) return true
  if (!isRight(publicKey, text, signature)) return false
  if (checked.size >= checkedKept) checked.clear()
  checked.add(digest)
  return true
}

function isRight(publicKey: string, text: string, signature: string): boolean {
  try {
    let key = publicKeys.get(publicKey)
    if (key === undefined) {
      key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: publicKey } })
      if (publicKeys.size >= keysKept) publicKeys.clear()
      publicKeys.set(publicKey, key)
    }
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'))
  } catch {
    // Not a key.
    return false
  }
}
