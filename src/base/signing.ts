import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

/** An Ed25519 key. Both halves are 32 bytes in base64url. */
export interface SigningKey {
  public: string
  secret: string
}

export function newSigningKey(): SigningKey {
  const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return { public: x!, secret: d! }
}

/** Signs texts with one key. */
export function signerOf({ public: x, secret: d }: SigningKey): (text: string) => string {
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x, d } })
  return (text) => sign(null, Buffer.from(text), key).toString('base64url')
}

const publicKeys = new Map<string, KeyObject>()
const keysKept = 1_000

/** Whether a signature is of this text, by the key with this public half. */
export function isSignedBy(publicKey: string, text: string, signature: string): boolean {
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
