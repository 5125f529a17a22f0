import { createHmac, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { createFileAtomically, readTextFile } from '../base/files.ts'
import { makeHubDir, mustBePrivate } from './hub-dir.ts'

const prefix = 'whsec_'
const secretBytes = 32

/**
 * The secret that webhooks are signed with. It is created when it is first needed, and kept with the tokens; `renew`
 * replaces it.
 */
export function webhookSecret(dir: string, { renew = false }: { renew?: boolean } = {}): string {
  const file = join(dir, 'hub', 'webhook-secret')
  makeHubDir(dir)
  if (renew) rmSync(file, { force: true })
  if (readTextFile(file) === undefined)
    createFileAtomically(file, `${prefix}${randomBytes(secretBytes).toString('base64')}\n`)
  const secret = readTextFile(file)?.trim() ?? ''
  mustBePrivate(file)
  if (/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret)) return secret
  throw new MailboxError('damaged', `${file} has no secret`, {
    hint: 'delete it: a new secret is created, and the receiver needs it',
  })
}

/**
 * The headers with which a receiver can tell that a post is ours, and not a copy of an old one: those of the Standard
 * Webhooks specification.
 */
export function signatureOf(secret: string, id: string, body: string, now = Date.now()) {
  const timestamp = Math.floor(now / 1_000)
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  const sum = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${sum}`,
  }
}
