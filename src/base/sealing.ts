import {
  type Cipher,
  createCipheriv,
  createDecipheriv,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/**
 * A key of 32 bytes that texts are sealed with: AES-256 in counter mode, and HMAC-SHA-256 over what comes of it.
 *
 * One stream of the cipher goes on from text to text, and each has the place in it where it begins. GCM takes a cipher for
 * each text: to make and to end one costs more than everything else that is done to seal it.
 */
export type DataKey = Buffer

export const newDataKey = (): DataKey => randomBytes(32)

/** Names a data key and says nothing of it. */
export const idOfKey = (key: DataKey): string => hash('sha256', key, 'hex').slice(0, 16)

const algorithm = 'aes-256-ctr'
const blockBytes = 16
/** A place in a stream: what is random for each stream, and the number of the block. */
const placeBytes = blockBytes
const tagBytes = 16
/** A stream is used for so many blocks, or for one text. It could be 2^32. */
const streamBlocks = 65_536

/** What a data key is used as. */
interface Keys {
  cipher: Buffer
  mac: MacKey
  /** What this process seals with: no two texts have a block in common. */
  stream: { cipher: Cipher; place: Buffer; block: number } | undefined
}

const derived = new WeakMap<DataKey, Keys>()

function keysOf(key: DataKey): Keys {
  let keys = derived.get(key)
  if (keys === undefined) {
    const derive = (purpose: string) =>
      Buffer.from(hkdfSync('sha256', key, '', `agent-mailbox ${purpose}`, 32))
    keys = { cipher: derive('encryption'), mac: macKey(derive('authentication')), stream: undefined }
    derived.set(key, keys)
  }
  return keys
}

/** A text that only whoever has the key can read, as base64url. It can only be opened as what it is `about`. */
export function sealText(key: DataKey, text: string, about: string): string {
  const keys = keysOf(key)
  const length = Buffer.byteLength(text)
  const blocks = Math.ceil(length / blockBytes)
  const start = writeAbout(keys.mac, about, placeBytes + blocks * blockBytes + tagBytes)
  const block = takeBlocks(keys, blocks)
  const { cipher, place } = keys.stream!
  work.set(place, start)
  work.writeUInt32BE(block, start + placeBytes - 4)
  const from = start + placeBytes
  work.write(text, from, 'utf8')
  // The next text begins with a block of its own, so what is left of the last one goes through as well, and is dropped.
  work.set(cipher.update(work.subarray(from, from + blocks * blockBytes)), from)
  const end = from + length
  work.write(mac(keys.mac, work.subarray(0, end)), end, 'latin1')
  return work.toString('base64url', start, end + tagBytes)
}

/** Goes on in the stream by so many blocks, or begins another. Returns the number of the first. */
function takeBlocks(keys: Keys, blocks: number): number {
  const { stream } = keys
  if (stream === undefined || stream.block + blocks > streamBlocks) {
    const place = Buffer.alloc(placeBytes)
    randomBytes(placeBytes - 4).copy(place)
    keys.stream = { cipher: createCipheriv(algorithm, keys.cipher, place), place, block: blocks }
    return 0
  }
  stream.block += blocks
  return stream.block - blocks
}

/** Undefined if it was sealed with another key, or about something else, or was changed since. */
export function openText(key: DataKey, sealed: string, about: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < placeBytes + tagBytes) return undefined
  const keys = keysOf(key)
  const inside = bytes.subarray(0, -tagBytes)
  const start = writeAbout(keys.mac, about, inside.length)
  work.set(inside, start)
  const tag = Buffer.from(mac(keys.mac, work.subarray(0, start + inside.length)), 'latin1')
  if (!timingSafeEqual(tag, bytes.subarray(-tagBytes))) return undefined
  const opening = createDecipheriv(algorithm, keys.cipher, inside.subarray(0, placeBytes))
  return opening.update(inside.subarray(placeBytes)).toString('utf8')
}

/** What has a mac is put together here: the first block of the key, how long `about` is, `about`, the place, the rest. */
let work = Buffer.allocUnsafeSlow(16_384)
const hashBlock = 64

/** Begins to put together what has a mac, with room for so many bytes more. Returns where they go. */
function writeAbout({ inner }: MacKey, about: string, more: number): number {
  // A UTF-16 unit takes at most three bytes.
  const longest = hashBlock + 4 + about.length * 3 + more
  if (longest > work.length) work = Buffer.allocUnsafeSlow(2 * longest)
  work.set(inner)
  const bytes = work.write(about, hashBlock + 4, 'utf8')
  work.writeUInt32BE(bytes, hashBlock)
  return hashBlock + 4 + bytes
}

/** The two blocks that HMAC-SHA-256 begins with under a key (RFC 2104), the second with room for the inner digest. */
interface MacKey {
  inner: Buffer
  outer: Buffer
}

function macKey(key: Buffer): MacKey {
  const inner = Buffer.alloc(hashBlock, 0x36)
  const outer = Buffer.alloc(hashBlock + 32, 0x5c)
  for (const [at, byte] of key.entries()) {
    inner[at]! ^= byte
    outer[at]! ^= byte
  }
  return { inner, outer }
}

/**
 * The first half of the HMAC of what follows the inner block, a byte a character. Two digests at once take a third of the time
 * of an object that is made for each.
 */
function mac({ outer }: MacKey, bytes: Buffer): string {
  outer.write(hash('sha256', bytes, 'binary'), hashBlock, 'latin1')
  return hash('sha256', outer, 'binary').slice(0, tagBytes)
}
