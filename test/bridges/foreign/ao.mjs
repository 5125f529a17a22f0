// A session of the orchestrator that mails by files in SESSION/inbox, in the manner of its Mailbox class.
//
// ao.mjs SESSIONS NAME PEER SEND RECEIVE: sends SEND numbered messages to PEER and acknowledges RECEIVE from it. It can
// be killed at any time; a new one looks at the files and goes on.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [dataDir, name, peer] = process.argv.slice(2)
const [toSend, toReceive] = process.argv.slice(5).map(Number)

async function atomicWrite(path, content) {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.tmp.${randomUUID()}`
  await writeFile(temporary, content, { mode: 0o600 })
  await rename(temporary, path)
}

const list = async (dir) =>
  (await readdir(dir).catch(() => [])).filter((file) => file.endsWith('.json')).sort()
const load = async (path) => JSON.parse(await readFile(path, 'utf8').catch(() => 'null'))

async function send(n) {
  const message = {
    ...{
      id: randomUUID(),
      from: name,
      to: peer,
      timestamp: new Date().toISOString(),
      type: 'status_response',
    },
    ...{ priority: 'normal', payload: { n }, requiresAck: true },
  }
  const file = `${message.timestamp.replaceAll(':', '')}-${message.id}-${message.type}.json`
  await atomicWrite(join(dataDir, peer, 'inbox', file), JSON.stringify(message, null, 2))
}

async function ackAll() {
  const inbox = join(dataDir, name, 'inbox')
  const processed = join(inbox, 'processed')
  await mkdir(processed, { recursive: true })
  for (const file of await list(inbox)) {
    const message = await load(join(inbox, file))
    if (message?.from !== peer) continue
    message.ackedAt = new Date().toISOString()
    await atomicWrite(join(inbox, file), JSON.stringify(message, null, 2))
    await rename(join(inbox, file), join(processed, file))
  }
  const done = await Promise.all((await list(processed)).map((file) => load(join(processed, file))))
  const handled = done.filter((message) => message?.from === peer)
  const acks = handled.filter(({ type }) => type === 'ack')
  return { got: handled.length - acks.length, acks: new Set(acks.map(({ replyTo }) => replyTo)).size }
}

const sent = new Set()
for (const dir of ['inbox', 'inbox/processed'])
  for (const file of await list(join(dataDir, peer, dir))) {
    const message = await load(join(dataDir, peer, dir, file))
    if (message?.from === name) sent.add(message.payload.n)
  }
const upcoming = Array.from({ length: toSend }, (_, n) => n).filter((n) => !sent.has(n))
for (;;) {
  for (const n of upcoming.splice(0, 5)) {
    await send(n)
    // Their order is that of their times, to the millisecond.
    await sleep(2)
  }
  const { got, acks } = await ackAll()
  // Each message of its own is acknowledged by one of the other side, for which the orchestrator waits.
  if (got >= toReceive && acks >= toSend && upcoming.length === 0) break
  await sleep(5)
}
console.log('done')
