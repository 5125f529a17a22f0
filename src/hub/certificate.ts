import { generateKeyPairSync, hash, randomBytes, sign, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { createFileAtomically, readFileIfAny, readTextFile } from '../base/files.ts'
import { hubDir, makeHubDir, mustBePrivate } from './hub-dir.ts'

/** A hub's own certificate. Its clients know it by its fingerprint, which is part of their tokens. */
export interface Certificate {
  key: string
  cert: string
  /** SHA-256 of the certificate, base64url. */
  fingerprint: string
}

const tlsFile = (dir: string) => join(hubDir(dir), 'tls.pem')
const dayMs = 86_400_000
const lifeDays = 3_650

/** The hub's certificate and its key, in one file. They are made when they are first needed. */
export function hubCertificate(dir: string): Certificate {
  const file = tlsFile(dir)
  makeHubDir(dir)
  if (readTextFile(file) === undefined) createFileAtomically(file, selfSigned(Date.now()))
  mustBePrivate(file)
  const found = certificateIn(readTextFile(file) ?? '')
  if (found !== undefined) return found
  throw new MailboxError('damaged', `${file} has no certificate`, {
    hint: 'delete it: a new one is made, and every token has to be created again',
  })
}

/** By what clients know the hub; undefined if it has no certificate. */
export const fingerprintIfAny = (dir: string): string | undefined =>
  certificateIn(readFileIfAny(tlsFile(dir)) ?? '')?.fingerprint

function certificateIn(pem: string): Certificate | undefined {
  const part = (label: string) =>
    new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----\n`).exec(pem)?.[0]
  const [key, cert] = [part('PRIVATE KEY'), part('CERTIFICATE')]
  if (key === undefined || cert === undefined) return undefined
  try {
    return { key, cert, fingerprint: hash('sha256', new X509Certificate(cert).raw, 'base64url') }
  } catch {
    return undefined
  }
}

/** A token as a client gets it: with the fingerprint of the hub, if it has one. */
export const withFingerprint = (token: string, fingerprint: string | undefined): string =>
  fingerprint === undefined ? token : `${token}~${fingerprint}`

// What follows is a certificate in DER, as RFC 5280 has it: a few nested lists.

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const size = content.length
  const long = size < 0x80 ? [] : [...(size > 0xff ? [size >> 8] : []), size & 0xff]
  return Buffer.concat([Buffer.from([tag, long.length === 0 ? size : 0x80 | long.length, ...long]), content])
}

const list = (...parts: readonly Buffer[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const whole = (...bytes: readonly number[]) => der(0x02, Buffer.from(bytes))
const bits = (bytes: Buffer) => der(0x03, Buffer.from([0]), bytes)
/** With two digits for the year until 2050, and with four afterwards. */
function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/[-:T]|\..*/g, '')}Z`
  return text < '2050' ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text))
}
const extension = (id: string, value: Buffer) => list(oid(id), der(0x04, value))

const ecdsaWithSha256 = list(oid('2a8648ce3d040302'))
const name = list(der(0x31, list(oid('550403'), der(0x0c, Buffer.from('agent-mailbox hub')))))
const subjectAltName = '551d11'
const extendedKeyUsage = '551d25'
const serverAuth = oid('2b06010505070301')
/** The names of a machine for itself. By other names its clients know it by the fingerprint all the same. */
const ownNames = ['localhost', '127.0.0.1', '::1']
const ipv6Loopback = Buffer.from([...Array<number>(15).fill(0), 1])

function addressOf(host: string): Buffer {
  if (isIP(host) === 0) return der(0x82, Buffer.from(host))
  return der(0x87, isIP(host) === 4 ? Buffer.from(host.split('.').map(Number)) : ipv6Loopback)
}

function selfSigned(now: number): string {
  // Encoded by the generator, and not exported afterwards, for the reason given in base/signing.ts.
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const serial = randomBytes(16)
  const content = list(
    der(0xa0, whole(2)),
    // Positive, and without a zero in front.
    whole(0x40 | (serial[0]! & 0x3f), ...serial.subarray(1)),
    ecdsaWithSha256,
    name,
    list(time(now - dayMs), time(now + lifeDays * dayMs)),
    name,
    publicKey,
    der(
      0xa3,
      list(
        extension(subjectAltName, list(...ownNames.map(addressOf))),
        extension(extendedKeyUsage, list(serverAuth)),
      ),
    ),
  )
  const bytes = list(content, ecdsaWithSha256, bits(sign('sha256', content, privateKey)))
  const lines = bytes
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')
  const cert = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
  return privateKey + cert
}
