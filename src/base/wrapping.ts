import { existsSync } from 'node:fs'
import type { DataKey } from './sealing.ts'

/**
 * Data keys, encrypted with age (https://age-encryption.org/v1) so that the owners of Ed25519 keys can open them. age
 * has keys of X25519, which follow from those of Ed25519; it does the same with the keys of SSH. So whoever has a key to
 * sign with can be written to, and there is one key to keep, to replace and to revoke.
 */

const recipients = new Map<string, string>()
const recipientsKept = 10_000

/** Set in bundles: what the build makes of age.ts is a file of its own, beside the bundle or above its chunks. */
declare const __AGE__: string | undefined

function loadAge(): Promise<typeof import('./age.ts')> {
  if (typeof __AGE__ === 'undefined') return import('./age.ts')
  const [file] = [`./${__AGE__}`, `../${__AGE__}`]
    .map((path) => new URL(path, import.meta.url))
    .filter((url) => existsSync(url))
  return import(file!.href) as Promise<typeof import('./age.ts')>
}

/** It takes longer to load than most commands take, and most commands need none of it. */
async function load() {
  const { ed25519, bech32, ...age } = await loadAge()
  const bytesOf = (key: string) => new Uint8Array(Buffer.from(key, 'base64url'))
  return {
    ...age,
    recipientOf(publicKey: string): string {
      const known = recipients.get(publicKey)
      if (known !== undefined) return known
      const recipient = bech32.encodeFromBytes('age', ed25519.utils.toMontgomery(bytesOf(publicKey)))
      if (recipients.size >= recipientsKept) recipients.clear()
      recipients.set(publicKey, recipient)
      return recipient
    },
    identityOf: (secret: string) =>
      bech32
        .encodeFromBytes('AGE-SECRET-KEY-', ed25519.utils.toMontgomerySecret(bytesOf(secret)))
        .toUpperCase(),
  }
}

/** A data key for the owners of these public keys, as an age file in base64url. */
export async function wrapKey(key: DataKey, publicKeys: readonly string[]): Promise<string> {
  const { Encrypter, recipientOf } = await load()
  const encrypter = new Encrypter()
  for (const one of new Set(publicKeys)) encrypter.addRecipient(recipientOf(one))
  return Buffer.from(await encrypter.encrypt(new Uint8Array(key))).toString('base64url')
}

/** Undefined if it was not for the owner of any of these secrets, or is no such file. */
export async function unwrapKey(wrapped: string, secrets: readonly string[]): Promise<DataKey | undefined> {
  if (secrets.length === 0) return undefined
  const { Decrypter, identityOf } = await load()
  try {
    const decrypter = new Decrypter()
    for (const secret of new Set(secrets)) decrypter.addIdentity(identityOf(secret))
    const key = Buffer.from(await decrypter.decrypt(new Uint8Array(Buffer.from(wrapped, 'base64url'))))
    return key.length === 32 ? key : undefined
  } catch {
    return undefined
  }
}
