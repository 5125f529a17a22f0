import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { parseStrictJson } from '../base/json.ts'
import { isObject } from '../base/objects.ts'
import { isSignedBy } from '../base/signing.ts'
import { readHead } from '../journal/file/head-mark.ts'
import { systemAgent } from '../model/agent.ts'
import { nameToFile } from '../model/name.ts'
import { isoTime } from '../model/time.ts'
import { Keyring } from './keyring.ts'
import { configDir, type Environment } from './trust.ts'

/**
 * Where a journal ended at some time, signed. Every entry depends on those before it, so a journal whose entry `seq`
 * has another sum was rewritten since. The one of the last `verify` that found nothing wrong is kept outside the space,
 * where whoever rewrites the journal does not get at it. Nothing else replaces it: that would hide what was rewritten.
 */
export interface SignedHead {
  space: string
  seq: number
  sum: string
  at: string
  key: string
  signature: string
}

const headFile = (space: string, env: Environment): string =>
  join(configDir(env), 'heads', `${nameToFile(space)}.json`)

const headText = ({ space, seq, sum, at }: Omit<SignedHead, 'key' | 'signature'>): string =>
  JSON.stringify(['agent-mailbox head', space, seq, sum, at])

/** Whether somebody who had the key signed this. */
const isSignedHead = (head: SignedHead): boolean => isSignedBy(head.key, headText(head), head.signature)

/** The end of the journal as far as it was acknowledged; undefined if nothing was, or there is no key to sign it with. */
export function signHead(dir: string): SignedHead | undefined {
  const head = readHead(join(dir, 'journal'))
  const signer = head && new Keyring(head.space, process.env, () => undefined).signerFor(systemAgent)
  if (head === undefined || signer === undefined) return undefined
  const signed = { space: head.space, seq: head.seq, sum: head.sum, at: isoTime(Date.now()) }
  return { ...signed, key: signer.public, signature: signer.sign(headText(signed)) }
}

/** A head that somebody kept, for a check of the journal. */
export function parseHead(text: string): SignedHead {
  const head = parseStrictJson(text) as SignedHead
  if (isObject(head) && Number.isSafeInteger(head.seq) && typeof head.at === 'string' && isSignedHead(head))
    return head
  throw new MailboxError('invalid', 'this is not the signed end of a journal', {
    hint: 'pass what `mailbox audit --head` printed',
  })
}

/** Keeps the end of the journal for the next `verify`. Nothing depends on it, so it fails in silence. */
export function rememberHead(dir: string): void {
  try {
    const head = signHead(dir)
    if (head === undefined) return
    const file = headFile(head.space, process.env)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileAtomically(file, `${JSON.stringify(head)}\n`, { expendable: true })
  } catch {
    // A home that cannot be written to.
  }
}

/** The same for a journal of which nothing is kept yet. */
export function rememberFirstHead(dir: string, space: string): void {
  if (!existsSync(headFile(space, process.env))) rememberHead(dir)
}

/** The end of the journal that was kept. */
export function rememberedHead(space: string): SignedHead | undefined {
  const head = readJsonIfAny<SignedHead>(headFile(space, process.env))
  return head !== undefined && isSignedHead(head) ? head : undefined
}
