// An agent of a team that mails by appending lines to mailbox/AGENT.jsonl under a lock file.
//
// ralph.mjs TEAMS TEAM/NAME PEER SEND RECEIVE: sends SEND numbered messages to PEER and reads RECEIVE from it. It can be
// killed at any time; a new one looks at the files and goes on.
import { randomUUID } from 'node:crypto'
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [teams, whole, peer] = process.argv.slice(2)
const [toSend, toReceive] = process.argv.slice(5).map(Number)
const [team, name] = whole.split('/')
const dir = join(teams, team, 'mailbox')
mkdirSync(dir, { recursive: true })
const fileOf = (agent) => join(dir, `${agent}.jsonl`)

async function withLock(file, work) {
  for (;;) {
    try {
      closeSync(openSync(`${file}.lock`, 'wx'))
      break
    } catch {
      const at = statSync(`${file}.lock`, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
      if (Date.now() - at > 10_000) rmSync(`${file}.lock`, { force: true })
      await sleep(2)
    }
  }
  try {
    work()
  } finally {
    rmSync(`${file}.lock`, { force: true })
  }
}

function lines(agent) {
  let text = ''
  try {
    text = readFileSync(fileOf(agent), 'utf8')
  } catch {}
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)]
    } catch {
      return []
    }
  })
}

const send = (n) =>
  withLock(fileOf(peer), () => {
    const message = {
      ...{ MessageId: randomUUID().replaceAll('-', '').slice(0, 12), FromAgentId: name, ToAgentId: peer },
      ...{
        Type: 'Text',
        Content: String(n),
        Metadata: { n: String(n) },
        Timestamp: new Date().toISOString(),
      },
    }
    appendFileSync(fileOf(peer), `${JSON.stringify(message)}\n`)
  })

appendFileSync(fileOf(name), '')
const sent = new Set(lines(peer).flatMap((line) => (line.FromAgentId === name ? [Number(line.Content)] : [])))
const upcoming = Array.from({ length: toSend }, (_, n) => n).filter((n) => !sent.has(n))
for (;;) {
  for (const n of upcoming.splice(0, 10)) await send(n)
  const got = new Set(lines(name).flatMap((line) => (line.FromAgentId === peer ? [line.MessageId] : [])))
  if (got.size >= toReceive && upcoming.length === 0) break
  await sleep(10)
}
console.log('done')
