// A session of Claude Code as others see it: a record with its process, and a socket that takes what it gets.
//
// claude-session.mjs CONFIG SOCKETS NAME LOG: writes the id of each message that it has taken into LOG, a line each. It
// takes nothing that is the same as what its sender said last, within 30 seconds, and tells the sender so. It forgets what
// was said when LOG is gone.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'

const [config, sockets, name, log] = process.argv.slice(2)
mkdirSync(sockets, { recursive: true })
mkdirSync(join(config, 'sessions'), { recursive: true })
const socket = join(sockets, `${process.pid}.sock`)
const procStart = readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')[19]
const record = {
  ...{ pid: process.pid, sessionId: '587724c7-65de-4d95-8c11-2d5e59f927f8', cwd: '/proj', procStart, name },
  ...{ kind: 'interactive', entrypoint: 'cli', messagingSocketPath: socket, status: 'idle' },
}
const copyMs = 30_000
const last = new Map()

function take({ msg_id: id, from, message }) {
  if (!existsSync(log)) last.clear()
  const before = last.get(from)
  const isCopy = before?.content === message.content && Date.now() - before.at < copyMs
  if (isCopy) return drop(id, from)
  last.set(from, { content: message.content, at: Date.now() })
  appendFileSync(log, `${id}\n`)
}

function drop(id, from) {
  const why = { status: 'dropped', drop_reason: 'duplicate', dropped_msg_ids: [id] }
  const notice = { type: 'control', action: 'peer_message_status', ...why, from: `uds:${socket}` }
  const connection = connect(from.slice('uds:'.length), () => connection.end(`${JSON.stringify(notice)}\n`))
  connection.on('error', () => {}) // It has ended.
}

const server = createServer({ allowHalfOpen: true }, (connection) => {
  let text = ''
  connection.on('data', (data) => (text += data))
  connection.on('error', () => connection.destroy())
  connection.on('end', () => {
    for (const line of text.split('\n').filter(Boolean)) {
      const frame = JSON.parse(line)
      if (frame.type === 'user') take(frame)
    }
    connection.end()
  })
})
server.listen(socket, () => {
  writeFileSync(join(config, 'sessions', `${process.pid}.json`), JSON.stringify(record))
  console.log('ready')
})
