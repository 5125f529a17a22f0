import { lookup } from 'node:dns'
import * as http from 'node:http'
import * as https from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { MailboxError } from './errors.ts'

/** Where requests to addresses that others have named may go. */
export interface Outward {
  /** Hosts, with or without a port, that may be private: somebody who may decide it has named them. */
  allowed: readonly string[]
}

const privateNets = new BlockList()
for (const [net, bits] of [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
  ] as const),
  ...([
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
  ] as const),
  ...([
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ] as const),
] as const)
  privateNets.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ...([
    ['::', 127],
    ['fc00::', 7],
    ['fe80::', 10],
    ['ff00::', 8],
    ['64:ff9b::', 96],
    ['2002::', 16],
  ] as const),
] as const)
  privateNets.addSubnet(net, bits, 'ipv6')

/** Whether an address is of this machine or of a network that is not public. */
export function isPrivate(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return privateNets.check(address, 'ipv4')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  return mapped === undefined ? privateNets.check(address, 'ipv6') : isPrivate(mapped)
}

const isAllowed = ({ host, hostname }: URL, { allowed }: Outward): boolean =>
  allowed.includes(host) || allowed.includes(hostname)

/** What is wrong with an address that somebody else has named, as far as its text tells. */
export function checkOutward(url: string, outward: Outward): string | undefined {
  if (!URL.canParse(url)) return 'the URL is not valid'
  const parsed = new URL(url)
  if (!/^https?:$/.test(parsed.protocol)) return 'the URL is neither http nor https'
  if (parsed.username !== '' || parsed.password !== '') return 'the URL has a password in it'
  if (isAllowed(parsed, outward)) return undefined
  const literal = parsed.hostname.replace(/^\[|\]$/g, '')
  if (isIP(literal) !== 0 && isPrivate(literal)) return `${parsed.host} is a private address`
  if (/^localhost$|\.localhost$/i.test(literal)) return `${parsed.host} is a private address`
  return undefined
}

const answerBytes = 1_048_576
const answerWithinMs = 30_000

/**
 * A `fetch` for addresses that others have named. It connects only to public addresses, or to hosts that are allowed;
 * the address is checked when the connection is made, so a name that changes its address in between gains nothing. It
 * follows no redirect, and an answer that is not a stream ends after a megabyte.
 */
export function outwardFetch(outward: Outward): typeof fetch {
  return (async (input: string | URL | Request, init: RequestInit = {}) => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    const problem = checkOutward(request.url, outward)
    if (problem !== undefined) throw refused(problem)
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
    const isStream = request.headers.get('accept')?.includes('text/event-stream') ?? false
    const ending = isStream ? [] : [AbortSignal.timeout(answerWithinMs)]
    const response = await send(url, {
      method: request.method,
      headers: Object.fromEntries(request.headers),
      lookup: isAllowed(url, outward) ? undefined : publicLookup,
      signal: AbortSignal.any([...(init.signal ? [init.signal] : []), ...ending]),
      body,
    })
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400) {
      response.destroy()
      throw refused(`${url.host} redirects elsewhere, which is not followed`)
    }
    const type = headers['content-type'] ?? ''
    const isEvents = type.startsWith('text/event-stream')
    const isEmpty = statusCode === 204
    if (isEmpty) response.resume()
    const content = isEmpty ? null : isEvents ? toWeb(response) : await bounded(response, url)
    return new Response(content as unknown as ReadableStream | null, {
      status: statusCode,
      headers: { 'content-type': type },
    })
  }) as typeof fetch
}

const toWeb = (response: http.IncomingMessage) => Readable.toWeb(response) as ReadableStream

async function bounded(response: http.IncomingMessage, url: URL): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > answerBytes) {
      response.destroy()
      throw refused(`the answer of ${url.host} is larger than ${answerBytes} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

interface Sent {
  method: string
  headers: Record<string, string>
  lookup: LookupFunction | undefined
  signal: AbortSignal
  body: Buffer | undefined
}

function send(url: URL, { body, lookup: find, ...rest }: Sent): Promise<http.IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { ...rest, agent: false, ...(find === undefined ? {} : { lookup: find }) })
    outgoing.on('error', reject)
    outgoing.on('response', resolve)
    outgoing.end(body)
  })
}

/** Finds the addresses of a name, and fails if one of them is private. */
const publicLookup: LookupFunction = (hostname, options, found) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return found(error, [])
    const inward = addresses.find(({ address }) => isPrivate(address))
    if (inward !== undefined) return found(refused(`${hostname} is a private address`), [])
    if (options.all) return found(null, addresses)
    found(null, addresses[0]!.address, addresses[0]!.family)
  })
}

const refused = (problem: string) =>
  new MailboxError('not_permitted', problem, {
    hint: 'a private address must be named by the person: mailbox config set a2a.allow HOST:PORT',
  })
